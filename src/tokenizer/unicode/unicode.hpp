// SPDX-License-Identifier: MIT
// What tokenizers need to know of Unicode 15.1: groups of categories, white space, lower case and
// the base of a decomposed character. The data is in unicode_*.def.
#pragma once

#include <cstdint>
#include <span>

#include "tokenizer/unicode/code_point_map.hpp"

namespace ingot::tokenizer {

/// The first letter of a general category. Its letter stands in unicode_groups.def.
enum class Group : std::uint8_t {
  unassigned,   ///< U: category Cn
  other,        ///< C: control, format, surrogate and private use
  letter,       ///< L
  mark,         ///< M
  number,       ///< N
  punctuation,  ///< P
  symbol,       ///< S
  separator     ///< Z
};

/// Group and white space of a code point in four bits: how the tables of this module store them.
struct CharacterClass {
  static constexpr std::uint8_t white_space_bit = 8;

  std::uint8_t bits = 0;

  [[nodiscard]] constexpr Group group() const noexcept {
    return static_cast<Group>(bits & (white_space_bit - 1));
  }
  /// Property White_Space: 25 code points.
  [[nodiscard]] constexpr bool is_white_space() const noexcept {
    return (bits & white_space_bit) != 0;
  }
};

/// The classes as runs, by code point.
[[nodiscard]] std::span<const CodePointRun> character_class_runs();

/// The class of a code point. The table is built at the first call.
[[nodiscard]] const CodePointMap& character_classes();

[[nodiscard]] inline CharacterClass class_of(char32_t code_point) {
  return {character_classes()[code_point]};
}

/// Whether to_lower() and decomposition_base() give the code point itself: two loads for most.
[[nodiscard]] bool is_unchanging(char32_t code_point);

/// The simple lower-case mapping; the code point itself if it has none.
[[nodiscard]] char32_t to_lower(char32_t code_point) noexcept;

/// The first code point of the full canonical decomposition; the code point itself if it has none.
[[nodiscard]] char32_t decomposition_base(char32_t code_point) noexcept;

/// The ASCII bytes that are white space.
[[nodiscard]] constexpr bool is_ascii_space(char byte) noexcept {
  return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

}  // namespace ingot::tokenizer
