// SPDX-License-Identifier: MIT
// The tokens of single characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ingot/tokenizer.hpp"
#include "tokenizer/unicode/code_point_map.hpp"
#include "tokenizer/unicode/lenient_utf8.hpp"

namespace ingot::tokenizer {

/// Blocks without a token are stored once.
class CharacterIds {
 public:
  /// The id of a text that is a single character; no_token if it is not one, or has none. The text
  /// is not empty.
  [[nodiscard]] TokenId find(std::string_view text) const noexcept {
    const auto lead = static_cast<unsigned char>(text[0]);
    if (lead < 0x80) return text.size() == 1 ? id_of(lead) : no_token;
    const auto character = decode_single(text);
    return character ? id_of(*character) : no_token;
  }
  void set(char32_t code_point, TokenId id) {
    std::uint16_t& block = table_.blocks[code_point / table_.block_size];
    if (block == 0) {
      block = static_cast<std::uint16_t>(table_.values.size() / table_.block_size);
      table_.values.resize(table_.values.size() + table_.block_size, no_token);
    }
    table_.values[table_.place_of(code_point)] = id;
  }

 private:
  [[nodiscard]] TokenId id_of(char32_t code_point) const noexcept {
    return table_.values[table_.place_of(code_point)];
  }

  CodePointBlocks<TokenId> table_ = {.values = std::vector<TokenId>(table_.block_size, no_token)};
};

}  // namespace ingot::tokenizer
