// SPDX-License-Identifier: MIT
// A line as a shell reads it, as far as completion needs that.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

/// The words of a line that ends at the cursor.
struct ShellLine {
  std::vector<std::string> words;  ///< The words without quotes; the last is the word at the
                                   ///< cursor.
  std::string kept;  ///< Start of the last word that bash keeps: up to its last break.
};

/// Splits a line by the rules of quotes and backslashes; the text after an open quote is a word,
/// too. Nothing is expanded. `breaks` are the characters, such as = and :, after which bash begins
/// the part of a word that it replaces, outside of quotes.
[[nodiscard]] ShellLine split_shell_line(std::string_view line, std::string_view breaks);

}  // namespace ingot::cli
