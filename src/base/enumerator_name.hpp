// SPDX-License-Identifier: MIT
// Names of enumerators that count from 0.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace ingot {

/// The name at an enumerator's place; empty for a number that is no enumerator.
template <class Enumeration, std::size_t name_count>
[[nodiscard]] constexpr std::string_view name_at(
    const std::array<std::string_view, name_count>& names, Enumeration enumerator) noexcept {
  const auto position = static_cast<std::size_t>(enumerator);
  return position < name_count ? names[position] : std::string_view();
}

}  // namespace ingot
