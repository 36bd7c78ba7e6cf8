// SPDX-License-Identifier: MIT
// The meaning of a value of tokenizer.ggml.pre.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ingot::tokenizer {

/// A row of pre_tokenizers.def.
struct PreTokenizer {
  // The properties, as that file describes them.
  static constexpr std::uint8_t none = 0;
  static constexpr std::uint8_t ignore_merges = 1;
  static constexpr std::uint8_t add_bos = 2;
  static constexpr std::uint8_t add_sep = 4;
  static constexpr std::uint8_t keep_spaces = 8;
  static constexpr std::uint8_t escape_spaces = 16;
  static constexpr std::uint8_t raw_utf8 = 32;
  static constexpr std::uint8_t no_bos = 64;
  static constexpr std::uint8_t gemma = 128;

  std::string_view name;
  std::span<const std::string_view> expressions;
  std::uint8_t properties = none;

  [[nodiscard]] constexpr bool has(std::uint8_t property) const noexcept {
    return (properties & property) != 0;
  }
};

/// The row with a name; that of "default" for the empty name; nullptr if the name is unknown.
[[nodiscard]] const PreTokenizer* find_pre_tokenizer(std::string_view name) noexcept;

}  // namespace ingot::tokenizer
