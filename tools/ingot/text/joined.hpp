// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

/// The items as fmt writes them, with `separator` between two.
template <class Items>
std::string joined(const Items& items, std::string_view separator = " ") {
  std::string text;
  bool is_first = true;
  for (const auto& item : items) {
    if (!is_first) text += separator;
    text += fmt::format("{}", item);
    is_first = false;
  }
  return text;
}

/// The parts of a list like "24G,24G".
[[nodiscard]] inline std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace ingot::cli
