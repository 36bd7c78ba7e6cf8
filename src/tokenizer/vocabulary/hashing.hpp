// SPDX-License-Identifier: MIT
// A fast keyed hash of short texts and pairs of numbers. The key is random, so that a file cannot
// be made whose entries all collide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/random_seed.hpp"

namespace ingot::tokenizer {

/// Both halves of a 128-bit product, joined.
[[nodiscard]] inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{a} * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// A text of at most 16 bytes as two numbers; with its size they stand for it exactly.
struct ShortText {
  static constexpr std::size_t max_bytes = 16;

  std::uint64_t low = 0;
  std::uint64_t high = 0;

  ShortText() = default;
  explicit ShortText(std::string_view text) noexcept {
    const char* data = text.data();
    const std::size_t size = text.size();
    if (size >= 8) {  // the two halves may overlap
      std::memcpy(&low, data, 8);
      std::memcpy(&high, data + size - 8, 8);
    } else if (size >= 4) {
      std::memcpy(&low, data, 4);
      std::memcpy(&high, data + size - 4, 4);
    } else if (size != 0) {
      const auto byte = [&](std::size_t i) {
        return std::uint64_t{static_cast<unsigned char>(data[i])};
      };
      low = byte(0) | byte(size / 2) << 8 | byte(size - 1) << 16;
    }
  }
  [[nodiscard]] bool operator==(const ShortText&) const = default;
};

class Hasher {
 public:
  Hasher() noexcept : first_(process_key().k0), second_(process_key().k1 | 1) {}

  [[nodiscard]] std::uint64_t operator()(const ShortText& text, std::size_t size) const noexcept {
    return fold(fold(text.low ^ first_, text.high ^ second_) ^ size, second_);
  }
  [[nodiscard]] std::uint64_t operator()(std::string_view text) const noexcept {
    std::uint64_t state = 0;
    std::string_view rest = text;
    for (; rest.size() > ShortText::max_bytes; rest.remove_prefix(ShortText::max_bytes)) {
      const ShortText part(rest.substr(0, ShortText::max_bytes));
      state = fold(part.low ^ first_ ^ state, part.high ^ second_) + state;
    }
    return (*this)(ShortText(rest), text.size()) ^ state;
  }
  [[nodiscard]] std::uint64_t operator()(std::uint64_t number) const noexcept {
    return fold(number ^ first_, second_);
  }

 private:
  std::uint64_t first_;
  std::uint64_t second_;
};

}  // namespace ingot::tokenizer
