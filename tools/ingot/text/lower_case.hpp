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

}  // namespace ingot::cli
