// SPDX-License-Identifier: MIT
// A file read with pread.
#pragma once

#include <memory>
#include <string>

#include "ingot/source.hpp"
#include "io/file_descriptor.hpp"

namespace ingot::io {

/// Reads an open regular file; takes the descriptor.
[[nodiscard]] std::unique_ptr<Source> read_descriptor(RegularFile file);

/// Reads a file that is opened for each read, as one of very many files: its descriptor is closed.
/// Errc::io_error if another file has its name then.
[[nodiscard]] Result<std::unique_ptr<Source>> read_on_demand(const std::string& path,
                                                             const RegularFile& file);

}  // namespace ingot::io
