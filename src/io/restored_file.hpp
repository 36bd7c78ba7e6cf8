// SPDX-License-Identifier: MIT
// A file seen as it was before a change that was cut off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ingot/source.hpp"
#include "io/file_descriptor.hpp"

namespace ingot::io {

/// Describes an earlier state of a file: without an inserted range, and with the earlier bytes of
/// an overwritten range.
struct EarlierState {
  std::uint64_t size_bytes = 0;       ///< The size of the file in that state.
  std::uint64_t inserted_offset = 0;  ///< The offset at which bytes were inserted since.
  std::uint64_t inserted_bytes = 0;
  std::uint64_t patch_offset = 0;  ///< The offset of the patch in the earlier file.
  std::vector<std::byte> patch;
  std::optional<std::byte> first_byte = {};  ///< The first byte of the earlier file, if it was
                                             ///< overwritten.
};

/// Makes a source that reads the earlier state. The descriptor stays open and keeps its locks.
[[nodiscard]] std::unique_ptr<Source> read_restored(RegularFile file, EarlierState state);

/// Maps the earlier state and never writes to the file. If the inserted range is not made of whole
/// pages, works like `read_restored`.
[[nodiscard]] Result<std::unique_ptr<Source>> map_restored(RegularFile file, EarlierState state);

}  // namespace ingot::io
