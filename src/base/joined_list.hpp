// SPDX-License-Identifier: MIT
// Lists in texts.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

namespace ingot {

/// Texts or whole numbers, with `separator` between two.
template <class Items>
[[nodiscard]] std::string joined(const Items& items, std::string_view separator = ", ") {
  std::string text;
  bool is_first = true;
  for (const auto& item : items) {
    if (!is_first) text += separator;
    is_first = false;
    if constexpr (std::integral<std::remove_cvref_t<decltype(item)>>) {
      text += std::to_string(item);
    } else {
      text += item;
    }
  }
  return text;
}

}  // namespace ingot
