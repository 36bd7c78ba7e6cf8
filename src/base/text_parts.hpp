// SPDX-License-Identifier: MIT
// Parts of texts: taken one by one, or replaced.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace ingot {

/// The text before the next `separator`, or all of it. The function removes both from `text`.
[[nodiscard]] inline std::string_view take_part(std::string_view& text, char separator) noexcept {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

/// Replaces `from` by `to` from left to right, in linear time. An empty `from` is never found.
inline void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty() || text.find(from) == text.npos) return;
  std::string replaced;
  std::string_view rest = text;
  for (std::size_t at = 0; (at = rest.find(from)) != rest.npos;) {
    replaced.append(rest.substr(0, at)).append(to);
    rest.remove_prefix(at + from.size());
  }
  text = std::move(replaced.append(rest));
}

}  // namespace ingot
