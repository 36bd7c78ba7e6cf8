// SPDX-License-Identifier: MIT
// Parts of texts: taken one by one, or replaced.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace ingot {

/// The text before the next `separator`, or all of it; it is taken with the separator.
[[nodiscard]] inline std::string_view take_part(std::string_view& text, char separator) noexcept {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

/// Puts `to` where `from` stands, from left to right; an empty `from` stands nowhere.
inline void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty()) return;
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace ingot
