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

/// Makes a source that opens its file for each read, for sets of very many files. A read fails with
/// Errc::io_error if another file has the name then.
[[nodiscard]] Result<std::unique_ptr<Source>> read_on_demand(const std::string& path,
                                                             const RegularFile& file);

}  // namespace ingot::io
