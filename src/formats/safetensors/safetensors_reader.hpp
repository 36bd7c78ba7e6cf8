// SPDX-License-Identifier: MIT
// Opens one safetensors file from any source.
#pragma once

#include <cstdint>
#include <memory>

#include "formats/safetensors/safetensors_header.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/interop.hpp"
#include "ingot/limits.hpp"
#include "ingot/source.hpp"

namespace ingot::formats {

/// A file and its parsed header.
struct SafetensorsFile {
  std::unique_ptr<Source> source;
  SafetensorsHeader header;
  std::uint64_t data_offset = 0;
};

/// Reads the header within the limits, and lowers them by its content, as the files of a set share
/// them.
[[nodiscard]] INGOT_EXPORT Result<SafetensorsFile> open_safetensors_file(
    std::unique_ptr<Source> source, Limits& limits);

[[nodiscard]] Result<OpenedModel> open_safetensors_source(std::unique_ptr<Source> source,
                                                          const OpenOptions& options);

}  // namespace ingot::formats
