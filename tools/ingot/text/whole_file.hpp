// SPDX-License-Identifier: MIT
// Files and standard input as texts, and texts as they are.
#pragma once

#include <ingot/error.hpp>
#include <string>
#include <string_view>

#include "cli/console.hpp"

namespace ingot::cli {

/// The content of a file, or of standard input for `-`, which is read once. At most 256 MiB
/// (Errc::limit_exceeded); Errc::io_error if it cannot be read.
[[nodiscard]] Result<std::string> read_whole(const std::string& path);

/// Writes the bytes as they are; but to a terminal, text that cannot drive it.
void write_raw(Console& console, std::string_view text);

}  // namespace ingot::cli
