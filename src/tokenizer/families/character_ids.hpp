// SPDX-License-Identifier: MIT
// The tokens of single characters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ingot/tokenizer.hpp"
#include "tokenizer/unicode/code_point_map.hpp"
#include "tokenizer/unicode/lenient_utf8.hpp"

namespace ingot::tokenizer {

/// A two-stage table: code points come in blocks, and blocks without a token are stored once.
class CharacterIds {
 public:
  /// The id of a text that is a single character; no_token if it is not one, or has none. The text
  /// is not empty.
  [[nodiscard]] TokenId find(std::string_view text) const noexcept {
    const auto lead = static_cast<unsigned char>(text[0]);
    if (lead < 0x80) return text.size() == 1 ? ids_[place_of(lead)] : no_token;
    const auto character = decode_single(text);
    return character ? ids_[place_of(*character)] : no_token;
  }
  void set(char32_t code_point, TokenId id) {
    std::uint16_t& block = blocks_[code_point / block_size];
    if (block == 0) {
      block = static_cast<std::uint16_t>(ids_.size() / block_size);
      ids_.resize(ids_.size() + block_size, no_token);
    }
    ids_[place_of(code_point)] = id;
  }

 private:
  static constexpr char32_t block_size = 128;

  [[nodiscard]] std::size_t place_of(char32_t code_point) const noexcept {
    return std::size_t{blocks_[code_point / block_size]} * block_size + code_point % block_size;
  }

  std::array<std::uint16_t, code_point_count / block_size> blocks_ = {};
  std::vector<TokenId> ids_ = std::vector<TokenId>(block_size, no_token);
};

}  // namespace ingot::tokenizer
