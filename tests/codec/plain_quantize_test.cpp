// SPDX-License-Identifier: MIT
// Encoding to single numbers: rounding, limits, and what is not a number.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "codec/codec.hpp"
#include "support/codec_cases.hpp"
#include "support/little_endian.hpp"

namespace ingot::test {
namespace {

constexpr float infinite = std::numeric_limits<float>::infinity();
constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();

template <class Stored>
struct Case {
  float value;
  Stored stored;
};

/// Each case at many places of a row: with the kernel, with the rest that it leaves, and with the
/// reference; for every CPU target.
template <class Stored>
void expect_encoded(TensorType type, const std::vector<Case<Stored>>& cases) {
  const codec::Codec& codec = *codec::find_codec(type);
  for (const std::int64_t target : cpu_targets()) {
    const ForcedTarget forced(target);
    for (const auto quantize : {codec.quantize_ref, codec.quantize}) {
      SCOPED_TRACE((quantize == codec.quantize ? "kernel " : "reference ") + target_name(target));
      for (const auto& [value, stored] : cases) {
        const std::vector<float> floats(37, value);
        std::vector<Stored> numbers(floats.size());
        quantize({.src = floats.data(),
                  .dst = reinterpret_cast<std::byte*>(numbers.data()),
                  .row_elements = floats.size(),
                  .row_count = 1});
        swap_if_big_endian(std::span(numbers));
        for (const Stored number : numbers) ASSERT_EQ(number, stored) << "from " << value;
      }
    }
  }
}

float bits(std::uint32_t value) { return std::bit_cast<float>(value); }

TEST(PlainQuantize, F32KeepsEveryBit) {
  expect_encoded<std::uint32_t>(TensorType::f32, {{-0.0f, 0x80000000u},
                                                  {1.5f, 0x3FC00000u},
                                                  {bits(1), 1u},
                                                  {infinite, 0x7F800000u},
                                                  {bits(0x7FC12345), 0x7FC12345u}});
}

TEST(PlainQuantize, F64IsExact) {
  expect_encoded<double>(TensorType::f64, {{1.0f / 3, static_cast<double>(1.0f / 3)},
                                           {bits(1), 0x1p-149},
                                           {-infinite, -std::numeric_limits<double>::infinity()},
                                           {0x1.FFFFFEp127f, 0x1.FFFFFEp127}});
}

TEST(PlainQuantize, F16RoundsToEvenAndOverflowsToInfinity) {
  expect_encoded<std::uint16_t>(TensorType::f16, {{-0.0f, 0x8000},
                                                  {1.0f, 0x3C00},
                                                  {1.0f + 0x1p-11f, 0x3C00},    // tie
                                                  {1.0f + 0x1.8p-10f, 0x3C02},  // tie
                                                  {1.0f + 0x1.002p-11f, 0x3C01},
                                                  {65519.0f, 0x7BFF},
                                                  {65520.0f, 0x7C00},
                                                  {-1e30f, 0xFC00},
                                                  {0x1p-14f, 0x0400},
                                                  {0x1.FFFFFEp-15f, 0x0400},
                                                  {0x1p-24f, 0x0001},
                                                  {0x1p-25f, 0x0000},  // tie
                                                  {0x1.000002p-25f, 0x0001},
                                                  {0x1.8p-24f, 0x0002},  // tie
                                                  {bits(1), 0x0000},
                                                  {infinite, 0x7C00},
                                                  {bits(0x7F800001), 0x7E00},
                                                  {bits(0xFFFFFFFF), 0xFE00}});
}

TEST(PlainQuantize, Bf16RoundsToEvenAndKeepsTheUpperHalfOfANan) {
  expect_encoded<std::uint16_t>(TensorType::bf16, {{-0.0f, 0x8000},
                                                   {bits(0x3F808000), 0x3F80},  // tie
                                                   {bits(0x3F818000), 0x3F82},  // tie
                                                   {bits(0x3F808001), 0x3F81},
                                                   {bits(0x7F7FFFFF), 0x7F80},
                                                   {bits(0x00008001), 0x0001},
                                                   {infinite, 0x7F80},
                                                   {bits(0x7F800001), 0x7FC0},
                                                   {bits(0xFFA50000), 0xFFE5}});
}

TEST(PlainQuantize, I8RoundsToEvenAndSaturates) {
  expect_encoded<std::int8_t>(TensorType::i8, {{-0.0f, 0},
                                               {0.5f, 0},
                                               {0.49999997f, 0},
                                               {0.50000006f, 1},
                                               {1.5f, 2},
                                               {-2.5f, -2},
                                               {-3.5f, -4},
                                               {127.5f, 127},
                                               {-128.5f, -128},
                                               {-129.0f, -128},
                                               {1e9f, 127},
                                               {-infinite, -128},
                                               {infinite, 127},
                                               {bits(1), 0},
                                               {quiet_nan, 0}});
}

TEST(PlainQuantize, I16RoundsToEvenAndSaturates) {
  expect_encoded<std::int16_t>(TensorType::i16, {{2.5f, 2},
                                                 {-3.5f, -4},
                                                 {32766.5f, 32766},
                                                 {32767.5f, 32767},
                                                 {-32768.5f, -32768},
                                                 {-32770.0f, -32768},
                                                 {infinite, 32767},
                                                 {-1e30f, -32768},
                                                 {quiet_nan, 0}});
}

TEST(PlainQuantize, I32RoundsToEvenAndSaturates) {
  constexpr auto high = std::numeric_limits<std::int32_t>::max();
  constexpr auto low = std::numeric_limits<std::int32_t>::min();
  expect_encoded<std::int32_t>(TensorType::i32, {{0.5f, 0},
                                                 {-1.5f, -2},
                                                 {4194304.5f, 4194304},
                                                 {4194305.5f, 4194306},
                                                 {-8388607.0f, -8388607},
                                                 {16777216.0f, 16777216},
                                                 {2147483520.0f, 2147483520},
                                                 {2147483648.0f, high},
                                                 {-2147483648.0f, low},
                                                 {-2147483904.0f, low},
                                                 {infinite, high},
                                                 {-infinite, low},
                                                 {quiet_nan, 0}});
}

TEST(PlainQuantize, I64RoundsToEvenAndSaturates) {
  constexpr auto high = std::numeric_limits<std::int64_t>::max();
  constexpr auto low = std::numeric_limits<std::int64_t>::min();
  expect_encoded<std::int64_t>(TensorType::i64, {{0.5f, 0},
                                                 {-3.5f, -4},
                                                 {0x1p40f, std::int64_t{1} << 40},
                                                 {0x1.FFFFFEp62f, high - 0x7FFFFFFFFF},
                                                 {0x1p63f, high},
                                                 {-0x1p63f, low},
                                                 {-0x1.000002p63f, low},
                                                 {infinite, high},
                                                 {-infinite, low},
                                                 {quiet_nan, 0}});
}

}  // namespace
}  // namespace ingot::test
