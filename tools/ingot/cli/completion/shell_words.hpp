// SPDX-License-Identifier: MIT
// A line as a shell reads it, as far as completion needs that.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

/// The words of a line that ends at the cursor.
struct ShellLine {
  std::vector<std::string> words;  ///< Without quotes; the last is the word at the cursor.
  std::string kept;  ///< Start of the last word that bash keeps: up to its last break.
};

/// Splits a line by the rules of quotes and backslashes; what an open quote holds is a word, too.
/// Nothing is expanded. `breaks` are the characters at which bash begins what it replaces, such as
/// = and :, outside of quotes.
[[nodiscard]] ShellLine split_shell_line(std::string_view line, std::string_view breaks);

}  // namespace ingot::cli
