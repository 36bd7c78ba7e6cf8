// SPDX-License-Identifier: MIT
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

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

}  // namespace ingot::cli
