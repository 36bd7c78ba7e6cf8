// SPDX-License-Identifier: MIT
// Lines that end in LF, whatever system wrote them.
#pragma once

#include <cstddef>
#include <string>

namespace ingot {

/// The text with every CR LF and CR replaced by LF.
[[nodiscard]] inline std::string with_line_feeds(std::string text) {
  if (text.find('\r') == std::string::npos) return text;
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      result += text[i];
    } else if (i + 1 == text.size() || text[i + 1] != '\n') {
      result += '\n';
    }
  }
  return result;
}

}  // namespace ingot
