// SPDX-License-Identifier: MIT
// Files and standard input as texts, and texts as they are.
#pragma once

#include <cstddef>
#include <ingot/error.hpp>
#include <string>
#include <string_view>

#include "cli/console.hpp"

namespace ingot::cli {

/// Far more than any template or conversation.
inline constexpr std::size_t max_text_bytes = std::size_t{256} << 20;
/// Far more than any list that people write.
inline constexpr std::size_t max_list_bytes = std::size_t{64} << 20;

/// The content of a file, or of standard input for `-`, which is read once. Errc::limit_exceeded
/// beyond `max_bytes`, also of a pipe or a device; Errc::io_error if it cannot be read.
[[nodiscard]] Result<std::string> read_whole(const std::string& path, std::size_t max_bytes);
/// Reads a file with the limit max_text_bytes.
[[nodiscard]] Result<std::string> read_whole(const std::string& path);

/// Writes the bytes as they are; but to a terminal, text that cannot drive it.
void write_raw(Console& console, std::string_view text);

}  // namespace ingot::cli
