// SPDX-License-Identifier: MIT
// Numbers as files hold them, on any machine.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

namespace ingot::test {

/// Turns numbers of this machine into little-endian ones, or back.
template <class T>
void swap_if_big_endian(std::span<T> numbers) {
  if constexpr (std::endian::native == std::endian::big) {
    const auto bytes = std::as_writable_bytes(numbers);
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
      std::ranges::reverse(bytes.subspan(at, sizeof(T)));
    }
  }
}

}  // namespace ingot::test
