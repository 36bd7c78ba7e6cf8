// SPDX-License-Identifier: MIT
// The words that users of other tools type, and the commands and options for them here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

/// The command to type instead of one that does not exist, like "'ingot diff'"; empty if unknown.
[[nodiscard]] std::string_view other_command(std::string_view word) noexcept;

/// The option to type instead of one that the command does not have.
[[nodiscard]] std::string_view other_option(std::string_view command,
                                            std::string_view option) noexcept;

/// Replaces option names that help does not show (llama.cpp's "-ngl", and those of older pages) by
/// those that the command has; leaves everything else as it is.
void respell_options(std::vector<std::string>& arguments);

/// All these words as a table in Markdown.
[[nodiscard]] std::string other_words_page();

}  // namespace ingot::cli
