// SPDX-License-Identifier: MIT
// Looks up a row of a table.
#pragma once

#include <algorithm>
#include <ranges>

namespace ingot {

/// The first element whose member has this value; null if there is none.
template <class Rows, class Member, class Value>
[[nodiscard]] constexpr auto* find_row(Rows& rows, Member member, const Value& value) noexcept {
  const auto row = std::ranges::find(rows, value, member);
  return row == std::ranges::end(rows) ? nullptr : &*row;
}

}  // namespace ingot
