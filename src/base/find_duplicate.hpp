// SPDX-License-Identifier: MIT
// Names that must differ.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

/// The first text, in sorted order, that two elements have; nothing if all are different.
template <class Elements, class TextOf>
[[nodiscard]] std::optional<std::string> find_duplicate(const Elements& elements, TextOf text_of) {
  std::vector<std::string_view> texts;
  texts.reserve(elements.size());
  for (const auto& element : elements) texts.push_back(std::invoke(text_of, element));
  std::ranges::sort(texts);
  const auto twice = std::ranges::adjacent_find(texts);
  return twice == texts.end() ? std::nullopt : std::optional<std::string>(*twice);
}

}  // namespace ingot
