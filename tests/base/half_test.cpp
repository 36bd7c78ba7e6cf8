// SPDX-License-Identifier: MIT
#include "ingot/half.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ingot::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::uint32_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }
std::uint16_t half_of(std::uint32_t bits) { return static_cast<std::uint16_t>(bits); }

/// The number that a finite binary16 means, by the definition.
float value_by_definition(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int mantissa = bits & 1023;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return static_cast<float>((bits & 0x8000) != 0 ? -magnitude : magnitude);
}

/// Checks the rounding of everything between two neighbours, positive and negative: the midpoint
/// goes to the even one, all else to the nearer.
template <class Convert>
void expect_rounds_between(Convert convert, float lower, float upper, std::uint16_t lower_bits) {
  const auto midpoint = static_cast<float>((static_cast<double>(lower) + upper) / 2);
  const std::uint16_t upper_bits = half_of(lower_bits + 1u);
  const std::uint16_t even_bits = lower_bits % 2 == 0 ? lower_bits : upper_bits;
  for (const std::uint32_t sign : {0u, 0x8000u}) {
    const float factor = sign != 0 ? -1.0f : 1.0f;
    ASSERT_EQ(convert(factor * std::nextafter(lower, upper)), sign | lower_bits) << lower;
    ASSERT_EQ(convert(factor * std::nextafter(midpoint, lower)), sign | lower_bits) << midpoint;
    ASSERT_EQ(convert(factor * midpoint), sign | even_bits) << midpoint;
    ASSERT_EQ(convert(factor * std::nextafter(midpoint, upper)), sign | upper_bits) << midpoint;
    ASSERT_EQ(convert(factor * std::nextafter(upper, lower)), sign | upper_bits) << upper;
  }
}

TEST(Half, F16ValuesAreThoseOfTheDefinition) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    if ((bits & 0x7C00) == 0x7C00) continue;
    ASSERT_EQ(bits_of(f32_from_f16(half_of(bits))), bits_of(value_by_definition(half_of(bits))))
        << "bits " << bits;
  }
}

TEST(Half, F16InfinityStaysInfinity) {
  EXPECT_EQ(f32_from_f16(0x7C00), infinity);
  EXPECT_EQ(f32_from_f16(0xFC00), -infinity);
}

TEST(Half, F16NanKeepsSignAndPayloadAndBecomesQuiet) {
  for (std::uint32_t payload = 1; payload <= 0x3FF; ++payload) {
    const std::uint32_t expected = 0x7F800000u | 0x400000u | (payload << 13);
    ASSERT_EQ(bits_of(f32_from_f16(half_of(0x7C00u | payload))), expected);
    ASSERT_EQ(bits_of(f32_from_f16(half_of(0xFC00u | payload))), 0x80000000u | expected);
  }
}

TEST(Half, F16RoundTripsEveryPattern) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const bool is_nan = (bits & 0x7FFF) > 0x7C00;
    const std::uint32_t expected = is_nan ? (bits & 0x8000u) | 0x7E00u : bits;
    ASSERT_EQ(f16_from_f32(f32_from_f16(half_of(bits))), expected);
  }
}

TEST(Half, F16RoundsToNearestEvenEverywhere) {
  for (std::uint16_t bits = 0; bits < 0x7BFF; ++bits) {
    const float upper = f32_from_f16(half_of(bits + 1u));
    ASSERT_NO_FATAL_FAILURE(expect_rounds_between(f16_from_f32, f32_from_f16(bits), upper, bits));
  }
}

TEST(Half, F16OverflowsToInfinityFromTheMidpointOn) {
  EXPECT_EQ(f16_from_f32(65504.0f), 0x7BFF);  // the largest
  EXPECT_EQ(f16_from_f32(std::nextafter(65520.0f, 0.0f)), 0x7BFF);
  EXPECT_EQ(f16_from_f32(65520.0f), 0x7C00);
  EXPECT_EQ(f16_from_f32(-65520.0f), 0xFC00);
  EXPECT_EQ(f16_from_f32(65536.0f), 0x7C00);
  EXPECT_EQ(f16_from_f32(std::numeric_limits<float>::max()), 0x7C00);
  EXPECT_EQ(f16_from_f32(infinity), 0x7C00);
  EXPECT_EQ(f16_from_f32(-infinity), 0xFC00);
}

TEST(Half, F16OfWhatIsTooSmallIsASignedZero) {
  EXPECT_EQ(f16_from_f32(std::numeric_limits<float>::denorm_min()), 0x0000);
  EXPECT_EQ(f16_from_f32(-std::numeric_limits<float>::denorm_min()), 0x8000);
  EXPECT_EQ(f16_from_f32(std::ldexp(1.0f, -25)), 0x0000);  // the midpoint to the smallest
  EXPECT_EQ(f16_from_f32(std::nextafter(std::ldexp(1.0f, -25), 1.0f)), 0x0001);
  EXPECT_EQ(f16_from_f32(-0.0f), 0x8000);
}

TEST(Half, F16OfEveryNanIsTheQuietNanOfItsSign) {
  for (const std::uint32_t payload : {1u, 0x1FFFu, 0x2000u, 0x400000u, 0x7FFFFFu}) {
    EXPECT_EQ(f16_from_f32(float_of(0x7F800000u | payload)), 0x7E00);
    EXPECT_EQ(f16_from_f32(float_of(0xFF800000u | payload)), 0xFE00);
  }
}

TEST(Half, Bf16IsTheUpperHalfOfAFloat) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
#ifdef __i386__
    // Functions give floats in a register of the first coprocessor, in which NaNs become quiet.
    if ((bits & 0x7FC0) == 0x7F80 && (bits & 0x3F) != 0) continue;
#endif
    ASSERT_EQ(bits_of(f32_from_bf16(half_of(bits))), bits << 16);
  }
}

TEST(Half, Bf16RoundTripsEveryPattern) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const bool is_nan = (bits & 0x7FFF) > 0x7F80;
    const std::uint32_t expected = is_nan ? bits | 0x40u : bits;
    ASSERT_EQ(bf16_from_f32(f32_from_bf16(half_of(bits))), expected);
  }
}

TEST(Half, Bf16RoundsToNearestEvenEverywhere) {
  for (std::uint16_t bits = 0; bits < 0x7F7F; ++bits) {
    const float upper = f32_from_bf16(half_of(bits + 1u));
    ASSERT_NO_FATAL_FAILURE(expect_rounds_between(bf16_from_f32, f32_from_bf16(bits), upper, bits));
  }
}

TEST(Half, Bf16OverflowsToInfinityFromTheMidpointOn) {
  EXPECT_EQ(bf16_from_f32(float_of(0x7F7F7FFF)), 0x7F7F);
  EXPECT_EQ(bf16_from_f32(float_of(0x7F7F8000)), 0x7F80);
  EXPECT_EQ(bf16_from_f32(float_of(0xFF7F8000)), 0xFF80);
  EXPECT_EQ(bf16_from_f32(std::numeric_limits<float>::max()), 0x7F80);
  EXPECT_EQ(bf16_from_f32(infinity), 0x7F80);
}

TEST(Half, Bf16OfANanKeepsItsUpperHalfAndIsQuiet) {
  EXPECT_EQ(bf16_from_f32(float_of(0x7F800001)), 0x7FC0);  // would be infinity if cut
  EXPECT_EQ(bf16_from_f32(float_of(0x7FFFFFFF)), 0x7FFF);  // would be -0 if rounded
  EXPECT_EQ(bf16_from_f32(float_of(0xFF812345)), 0xFFC1);
}

}  // namespace
}  // namespace ingot::test
