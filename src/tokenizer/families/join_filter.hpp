// SPDX-License-Identifier: MIT
// Finds places where a text can be cut without changing its tokens.
#pragma once

#include <algorithm>
#include <bit>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/checked.hpp"
#include "tokenizer/unicode/lenient_utf8.hpp"
#include "tokenizer/vocabulary/hashing.hpp"

namespace ingot::tokenizer {

/// Remembers which characters stand side by side within tokens. No token spans two characters that
/// never do, so a text can be cut between them. A set of bits by hash: a false yes costs a cut,
/// never a wrong one.
class JoinFilter {
 public:
  explicit JoinFilter(std::size_t token_count)
      : bits_(std::bit_ceil(std::max<std::size_t>(64, token_count / 4))),
        mask_(bits_.size() * 64 - 1) {}

  /// Remembers the inner pairs of a token.
  void add_token(std::string_view token) {
    for_each_pair(token, [&](std::string_view left, std::string_view right) { add(left, right); });
  }
  void add(std::string_view left, std::string_view right) {
    if (is_ascii(left, right)) {
      ascii_[ascii_bit(left[0], right[0])] = true;
      return;
    }
    const std::size_t bit = bit_of(left, right);
    bits_[bit / 64] |= std::uint64_t{1} << (bit % 64);
  }
  [[nodiscard]] bool may_join(std::string_view left, std::string_view right) const noexcept {
    if (is_ascii(left, right)) return ascii_[ascii_bit(left[0], right[0])];
    const std::size_t bit = bit_of(left, right);
    return (bits_[bit / 64] >> (bit % 64) & 1) != 0;
  }

  /// Whether there is a safe cut at a place of a text that is UTF-8 there, spaces of which tokens
  /// spell with the space symbol if `escapes_spaces`.
  [[nodiscard]] bool is_cut(std::string_view text, std::size_t place, bool escapes_spaces) const {
    const std::size_t left_bytes = character_before(text, place).size_bytes;
    const LenientCharacter right = decode_lenient(text.substr(place));
    const bool is_valid = left_bytes != 0 && !is_continuation(text[place]) &&
                          left_bytes == character_bytes(text[place - left_bytes]) &&
                          right.size_bytes == character_bytes(text[place]);
    if (!is_valid) return false;
    // Characters are found by their first bytes alone: none may reach into the one on the left.
    const std::size_t before = place - left_bytes;
    for (std::size_t i = 1; i <= std::min<std::size_t>(before, 3); ++i) {
      if (character_bytes(text[before - i]) > i) return false;
    }
    const auto spelt = [&](std::string_view character) {
      return escapes_spaces && character == " " ? space_symbol : character;
    };
    return !may_join(spelt(text.substr(place - left_bytes, left_bytes)),
                     spelt(text.substr(place, right.size_bytes)));
  }

  /// Calls `take(part)` for the parts of a text between safe cuts.
  template <class Take>
  void split(std::string_view text, Take&& take) const {
    std::size_t begin = 0;
    for_each_pair(text, [&](std::string_view left, std::string_view right) {
      if (may_join(left, right)) return;
      const auto cut = static_cast<std::size_t>(right.data() - text.data());
      take(text.substr(begin, cut - begin));
      begin = cut;
    });
    if (begin != text.size()) take(text.substr(begin));
  }

 private:
  template <class Take>
  static void for_each_pair(std::string_view text, const Take& take) {
    std::string_view left;
    for (std::size_t i = 0; i < text.size(); i += left.size()) {
      const std::string_view right = text.substr(i, character_bytes(text[i]));
      if (!left.empty()) take(left, right);
      left = right;
    }
  }
  [[nodiscard]] std::size_t bit_of(std::string_view left, std::string_view right) const noexcept {
    return to_size(hasher_(number_of(left) << 32 | number_of(right)) & mask_);
  }
  /// The bytes of a character, at most four.
  [[nodiscard]] static std::uint64_t number_of(std::string_view character) noexcept {
    std::uint64_t number = 0;
    for (const char byte : character) number = number << 8 | static_cast<unsigned char>(byte);
    return number;
  }

  /// Characters of one byte below 0x80 have a bit of their own, which needs no hash.
  [[nodiscard]] static bool is_ascii(std::string_view left, std::string_view right) noexcept {
    return ((left[0] | right[0]) & 0x80) == 0;
  }
  [[nodiscard]] static std::size_t ascii_bit(char left, char right) noexcept {
    return static_cast<std::size_t>(left) << 7 | static_cast<std::size_t>(right);
  }

  Hasher hasher_;
  std::bitset<128 * 128> ascii_;
  std::vector<std::uint64_t> bits_;
  std::size_t mask_;
};

}  // namespace ingot::tokenizer
