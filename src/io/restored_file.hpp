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

/// How to see an earlier state of a file: without a range that was inserted, and with the earlier
/// bytes of one that was overwritten.
struct EarlierState {
  std::uint64_t size_bytes = 0;       ///< Of the file in that state.
  std::uint64_t inserted_offset = 0;  ///< Where bytes were inserted since.
  std::uint64_t inserted_bytes = 0;
  std::uint64_t patch_offset = 0;  ///< In the earlier file.
  std::vector<std::byte> patch;
  std::optional<std::byte> first_byte = {};  ///< Of the earlier file, if it was overwritten.
};

/// Reads the earlier state. The descriptor stays open, with the locks that are on it.
[[nodiscard]] std::unique_ptr<Source> read_restored(RegularFile file, EarlierState state);

/// Maps it; the file itself is never written to. Where the inserted range is not of whole pages,
/// the same as `read_restored`.
[[nodiscard]] Result<std::unique_ptr<Source>> map_restored(RegularFile file, EarlierState state);

}  // namespace ingot::io
