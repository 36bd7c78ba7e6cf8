// SPDX-License-Identifier: MIT
// A fast keyed hash of short texts and pairs of numbers. The key is random, so that a file cannot
// be made whose entries all collide.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/byte_order.hpp"
#include "base/checked.hpp"
#include "base/siphash.hpp"

namespace ingot::tokenizer {

/// Joins both halves of a 128-bit product.
[[nodiscard]] inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
  const WideProduct product = multiply_wide(a, b);
  return product.low ^ product.high;
}

/// A text of at most 16 bytes as two numbers, of which it fills the low bytes; with its size they
/// stand for it exactly.
struct ShortText {
  static constexpr std::size_t max_bytes = 16;

  std::uint64_t low = 0;
  std::uint64_t high = 0;

  ShortText() = default;
  explicit ShortText(std::string_view text) noexcept {
    const auto* data = reinterpret_cast<const std::byte*>(text.data());
    const std::size_t size = text.size();
    if (size >= 8) {
      low = load_little<std::uint64_t>(data);
      // The last eight bytes, without those in `low`; a shift by 64 bits needs two steps.
      const std::size_t half = (max_bytes - size) * 4;
      high = load_little<std::uint64_t>(data + size - 8) >> half >> half;
    } else if (size >= 4) {
      const std::uint64_t last = load_little<std::uint32_t>(data + size - 4);
      low = load_little<std::uint32_t>(data) | last << (size - 4) * 8;
    } else if (size != 0) {
      const auto byte = [&](std::size_t i) {
        return std::uint64_t{load_little<std::uint8_t>(data + i)} << i * 8;
      };
      low = byte(0) | byte(size / 2) | byte(size - 1);
    }
  }
  /// The first bytes of 16 that can be read: without branches, which texts of all sizes would make
  /// unpredictable.
  [[nodiscard]] static ShortText first_of(const char* data, std::size_t size) noexcept {
    const auto* bytes = reinterpret_cast<const std::byte*>(data);
    ShortText text;
    text.low = load_little<std::uint64_t>(bytes) & masks[8 + size];
    text.high = load_little<std::uint64_t>(bytes + 8) & masks[size];
    return text;
  }
  /// Writes all 16 bytes.
  void store_at(char* to) const noexcept {
    constexpr bool is_swapped = std::endian::native != std::endian::little;
    auto* bytes = reinterpret_cast<std::byte*>(to);
    store(bytes, low, is_swapped);
    store(bytes + 8, high, is_swapped);
  }
  [[nodiscard]] bool operator==(const ShortText&) const = default;

 private:
  /// masks[8 + n] has the first n bytes of a number: none below, all above.
  static constexpr std::array<std::uint64_t, 25> masks = [] {
    std::array<std::uint64_t, 25> all = {};
    for (std::size_t n = 1; n <= max_bytes; ++n)
      all[8 + n] = n >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << n * 8) - 1;
    return all;
  }();
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
