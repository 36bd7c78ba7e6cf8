// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace ingot::cli {

/// The text with its ASCII letters in lower case.
[[nodiscard]] inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

/// The text in upper case.
[[nodiscard]] inline std::string upper_case(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

}  // namespace ingot::cli
