// SPDX-License-Identifier: MIT
#include "commands/sample/sample_weights.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace ingot::cli {
namespace {

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;

/// The finaliser of splitmix64.
constexpr std::uint64_t mix(std::uint64_t z) noexcept {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

constexpr std::int32_t lane(std::uint64_t word, unsigned index) noexcept {
  return static_cast<std::int16_t>(word >> (16 * index) & 0xffff);
}

/// Four numbers from one random word: its four signed lanes through a Hadamard transform. Each is
/// a sum of four uniform numbers, thus nearly normal, symmetric around zero, below 2^17 and
/// uncorrelated with the other three.
void make_numbers(std::uint64_t key, std::uint64_t first_group, std::span<std::int32_t> numbers) {
  for (std::size_t i = 0; i < numbers.size() / weight_group; ++i) {
    const std::uint64_t word = mix(key + (first_group + i) * golden);
    const std::int32_t sum_low = lane(word, 0) + lane(word, 1);
    const std::int32_t difference_low = lane(word, 0) - lane(word, 1);
    const std::int32_t sum_high = lane(word, 2) + lane(word, 3);
    const std::int32_t difference_high = lane(word, 2) - lane(word, 3);
    numbers[4 * i] = sum_low + sum_high + 2;  // a signed lane is -1/2 on average
    numbers[4 * i + 1] = difference_low + difference_high;
    numbers[4 * i + 2] = sum_low - sum_high;
    numbers[4 * i + 3] = difference_low - difference_high;
  }
}

/// Plain expressions, so that compilers make vector code of the loops that call them; the numbers
/// are small and finite, which leaves out what a general conversion needs.
constexpr std::uint16_t bf16_bits(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Rounds without a branch: a power of two 2^13 times larger is added, so that the sum's last bit
/// is the last bit of the half and adding rounds to nearest even; what is left of the sum without
/// that power is the significand. Exponents below the least of a normal half count as that one.
constexpr std::uint16_t f16_bits(float value) noexcept {
  constexpr std::int32_t least_exponent = 113 << 23;
  const auto bits = std::bit_cast<std::int32_t>(value);
  const std::int32_t magnitude = bits & 0x7fffffff;
  const std::int32_t exponent = std::max(magnitude & 0x7f800000, least_exponent);
  const std::int32_t power = exponent + (13 << 23);
  const float sum = std::bit_cast<float>(magnitude) + std::bit_cast<float>(power);
  const std::int32_t significand = std::bit_cast<std::int32_t>(sum) - power;
  const std::int32_t half = significand + ((exponent - least_exponent) >> 13);
  return static_cast<std::uint16_t>((bits >> 16 & 0x8000) | half);
}

template <class Unit>
constexpr Unit swapped(Unit unit) noexcept {
  if constexpr (sizeof(Unit) == 2) {
    return static_cast<Unit>(unit << 8 | unit >> 8);
  } else {
    return unit << 24 | (unit & 0xff00) << 8 | (unit >> 8 & 0xff00) | unit >> 24;
  }
}

template <class Unit, class Encode>
void fill(const WeightPattern& pattern, std::uint64_t first, std::span<std::byte> out,
          const Encode& encode) {
  // Small enough to stay in the innermost cache between the loops.
  constexpr std::size_t most = 2048;
  std::array<std::int32_t, most> numbers;
  std::array<Unit, most> units;
  const float scale = 1.0f / static_cast<float>(std::uint64_t{1} << pattern.scale_bits);
  const bool is_native =
      (pattern.byte_order == Endian::little) == (std::endian::native == std::endian::little);
  while (!out.empty()) {
    const std::size_t count = std::min(out.size() / sizeof(Unit), most);
    make_numbers(pattern.key, first / weight_group, std::span(numbers).first(count));
    for (std::size_t i = 0; i < count; ++i) {
      // Both steps are exact.
      units[i] = encode(pattern.center + static_cast<float>(numbers[i]) * scale);
    }
    if (!is_native) {
      for (std::size_t i = 0; i < count; ++i) units[i] = swapped(units[i]);
    }
    std::memcpy(out.data(), units.data(), count * sizeof(Unit));
    out = out.subspan(count * sizeof(Unit));
    first += count;
  }
}

}  // namespace

std::uint64_t weight_key(std::uint64_t seed, std::string_view tensor_name) noexcept {
  std::uint64_t key = mix(seed + golden);
  for (const char c : tensor_name) key = mix(key ^ static_cast<unsigned char>(c)) + golden;
  return key;
}

void make_weights(const WeightPattern& pattern, std::uint64_t first, std::span<std::byte> out) {
  // Lambdas, not functions: each becomes a part of its own loop.
  if (pattern.type == TensorType::f16) {
    fill<std::uint16_t>(pattern, first, out, [](float value) { return f16_bits(value); });
  } else if (pattern.type == TensorType::bf16) {
    fill<std::uint16_t>(pattern, first, out, [](float value) { return bf16_bits(value); });
  } else {
    fill<std::uint32_t>(pattern, first, out,
                        [](float value) { return std::bit_cast<std::uint32_t>(value); });
  }
}

}  // namespace ingot::cli
