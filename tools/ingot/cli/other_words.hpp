// SPDX-License-Identifier: MIT
// What users of other tools type, and what does it here.
#pragma once

#include <string>
#include <string_view>

namespace ingot::cli {

/// What to type instead of a command that does not exist, like "'ingot diff'"; empty if unknown.
[[nodiscard]] std::string_view other_command(std::string_view word) noexcept;

/// The same for an option that a command does not have.
[[nodiscard]] std::string_view other_option(std::string_view command,
                                            std::string_view option) noexcept;

/// All of these, as a table in Markdown.
[[nodiscard]] std::string other_words_page();

}  // namespace ingot::cli
