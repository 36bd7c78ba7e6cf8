// SPDX-License-Identifier: MIT
// Rows of tables, and lists without repetitions.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

/// The first element whose member has this value; null if there is none.
template <class Rows, class Member, class Value>
[[nodiscard]] constexpr auto* find_row(Rows& rows, Member member, const Value& value) noexcept {
  const auto row = std::ranges::find(rows, value, member);
  return row == std::ranges::end(rows) ? nullptr : &*row;
}

/// The name at an enumerator's place; empty for a number that is no enumerator.
template <class Enumeration, std::size_t name_count>
[[nodiscard]] constexpr std::string_view name_at(
    const std::array<std::string_view, name_count>& names, Enumeration enumerator) noexcept {
  const auto position = static_cast<std::size_t>(enumerator);
  return position < name_count ? names[position] : std::string_view();
}

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

/// Sorts a list and drops all duplicates.
template <class T>
void sort_unique(std::vector<T>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

}  // namespace ingot
