// SPDX-License-Identifier: MIT
// The codes of types with one scale for 32 weights.
#pragma once

#include "codec/blocks/legacy.hpp"
#include "codec/blocks/q8.hpp"

namespace ingot::codec {

template <class Block>
inline constexpr bool has_minimum = requires(Block block) {
  block.minimum;
};

/// The lowest code, without the offset that it is stored with, and the number of codes.
template <class Block>
struct CodeRange {
  static constexpr int lowest = 0, count = 0;
};
template <>
struct CodeRange<BlockQ4_0> {
  static constexpr int lowest = -8, count = 16;
};
template <>
struct CodeRange<BlockQ4_1> {
  static constexpr int lowest = 0, count = 16;
};
template <>
struct CodeRange<BlockQ5_0> {
  static constexpr int lowest = -16, count = 32;
};
template <>
struct CodeRange<BlockQ5_1> {
  static constexpr int lowest = 0, count = 32;
};
template <>
struct CodeRange<BlockQ8_0> {
  static constexpr int lowest = -128, count = 256;
};

}  // namespace ingot::codec
