// SPDX-License-Identifier: MIT
// A small number for every code point: two loads, whatever the code point.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ingot::tokenizer {

/// The number after the last code point of Unicode.
inline constexpr char32_t code_point_count = 0x110000;

/// Code points from `first` to the next run have `value`.
struct CodePointRun {
  char32_t first = 0;
  std::uint8_t value = 0;
};

/// A two-stage table: code points come in blocks, which may share their values.
template <class Value>
struct CodePointBlocks {
  static constexpr char32_t block_size = 128;

  /// The index of the value of a code point below code_point_count.
  [[nodiscard]] std::size_t place_of(char32_t code_point) const noexcept {
    return std::size_t{blocks[code_point / block_size]} * block_size + code_point % block_size;
  }

  std::array<std::uint16_t, code_point_count / block_size> blocks = {};
  std::vector<Value> values;
};

/// Blocks of one value are stored once.
class CodePointMap {
 public:
  /// @param runs  by ascending `first`; the first begins at 0.
  explicit CodePointMap(std::span<const CodePointRun> runs);

  /// `code_point` must be below code_point_count.
  [[nodiscard]] std::uint8_t operator[](char32_t code_point) const noexcept {
    return table_.values[table_.place_of(code_point)];
  }

 private:
  CodePointBlocks<std::uint8_t> table_;
};

}  // namespace ingot::tokenizer
