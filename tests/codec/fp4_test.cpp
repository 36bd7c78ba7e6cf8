// SPDX-License-Identifier: MIT
// Scales of MXFP4 and NVFP4, against definitions by other means; and blocks at the edges of what
// the kernels do themselves.
#include "codec/blocks/fp4.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "codec/codec.hpp"
#include "codec/encode/fp4_scales.hpp"
#include "support/codec_cases.hpp"

namespace ingot::test {
namespace {

using codec::half_e8m0;
using codec::half_ue4m3;
using codec::mxfp4_exponent;
using codec::ue4m3_from_f32;

TEST(Fp4Scales, HalfE8m0IsAPowerOfTwo) {
  for (int byte = 0; byte < 256; ++byte) {
    EXPECT_EQ(half_e8m0(static_cast<std::uint8_t>(byte)), std::ldexp(1.0f, byte - 128)) << byte;
  }
}

TEST(Fp4Scales, HalfUe4m3IgnoresBitSevenExceptInFf) {
  for (int byte = 0; byte < 256; ++byte) {
    const int exponent = byte / 8 % 16;
    const int mantissa = byte % 8;
    double expected =
        exponent == 0 ? std::ldexp(mantissa, -10) : std::ldexp(8 + mantissa, exponent - 7 - 3 - 1);
    if (byte == 0x7F) expected = 0.0;
    EXPECT_EQ(half_ue4m3(static_cast<std::uint8_t>(byte)), static_cast<float>(expected)) << byte;
  }
}

/// How many numbers below 2^n have a logarithm that rounds to n; found by asking glibc 2.36 for
/// all.
std::uint32_t counted_up(int n) {
  const int magnitude = n > 0 ? n - 1 : -n;
  std::uint32_t count = 0;
  for (const auto& [from, ulps] :
       {std::pair{2, 1u}, {4, 2u}, {8, 5u}, {16, 11u}, {32, 22u}, {64, 44u}}) {
    if (magnitude >= from) count = ulps;
  }
  return count;
}

TEST(Fp4Scales, Mxfp4ExponentIsTheRoundedLogarithmsFloor) {
  for (int n = -125; n <= 128; ++n) {
    // 2^n is the float of these bits; for 128 that is infinity.
    const std::uint32_t power = static_cast<std::uint32_t>(n + 127) << 23;
    const auto at = [](std::uint32_t bits) { return mxfp4_exponent(std::bit_cast<float>(bits)); };
    const auto exponent = static_cast<std::uint8_t>(n + 125);
    const auto below = static_cast<std::uint8_t>(n + 124);
    if (n < 128) {
      EXPECT_EQ(at(power), exponent) << n;
      EXPECT_EQ(at(power + 1), exponent) << n;
      EXPECT_EQ(at(power + 0x400000), exponent) << n;
    }
    const std::uint32_t count = counted_up(n);
    for (std::uint32_t k = 1; k < 64; ++k) {
      EXPECT_EQ(at(power - k), k <= count ? exponent : below) << n << ", " << k << " below";
    }
  }
}

TEST(Fp4Scales, Mxfp4ExponentWrapsForTinyNumbers) {
  EXPECT_EQ(mxfp4_exponent(0.0f), 0);
  EXPECT_EQ(mxfp4_exponent(0x1p-125f), 0);
  EXPECT_EQ(mxfp4_exponent(0x1p-126f), 255);
  EXPECT_EQ(mxfp4_exponent(0x1p-127f), 254);
  EXPECT_EQ(mxfp4_exponent(0x1p-149f), 232);
  EXPECT_EQ(mxfp4_exponent(0x1.8p-148f), 233);
}

/// The nearest of all bytes up to 0x7E, the larger one of two that are equally near.
int nearest_ue4m3(double value) {
  int best = 0;
  for (int byte = 1; byte < 0x7F; ++byte) {
    const double error = std::fabs(2.0 * half_ue4m3(static_cast<std::uint8_t>(byte)) - value);
    const double best_error = std::fabs(2.0 * half_ue4m3(static_cast<std::uint8_t>(best)) - value);
    if (error <= best_error) best = byte;
  }
  return best;
}

TEST(Fp4Scales, Ue4m3IsTheNearestHalvesUp) {
  for (int byte = 0; byte < 0x77; ++byte) {
    const float low = 2.0f * half_ue4m3(static_cast<std::uint8_t>(byte));
    const float high = 2.0f * half_ue4m3(static_cast<std::uint8_t>(byte + 1));
    const float middle = low + (high - low) / 2;
    for (const float value : {low, std::nextafter(middle, 0.0f), middle, high}) {
      // Just below 2^-6 there is a gap: subnormal numbers end at 7 * 2^-9.
      const int expected =
          value < 0x1p-6f ? std::min(nearest_ue4m3(value), 7) : nearest_ue4m3(value);
      // Below 2^-10 the sum with a half rounds: its neighbour counts as the middle.
      if (value == std::nextafter(0x1p-10f, 0.0f)) continue;
      EXPECT_EQ(ue4m3_from_f32(value), expected) << value;
    }
  }
}

TEST(Fp4Scales, Ue4m3SaturatesFrom248) {
  EXPECT_EQ(ue4m3_from_f32(std::nextafter(248.0f, 0.0f)), 0x77);
  EXPECT_EQ(ue4m3_from_f32(248.0f), 0x7E);
  EXPECT_EQ(ue4m3_from_f32(448.0f), 0x7E);
  EXPECT_EQ(ue4m3_from_f32(std::numeric_limits<float>::max()), 0x7E);
  EXPECT_EQ(ue4m3_from_f32(std::numeric_limits<float>::infinity()), 0x7E);
}

TEST(Fp4Scales, Ue4m3OfWhatIsNotPositiveIsZero) {
  EXPECT_EQ(ue4m3_from_f32(0.0f), 0);
  EXPECT_EQ(ue4m3_from_f32(-0.0f), 0);
  EXPECT_EQ(ue4m3_from_f32(-1.0f), 0);
  EXPECT_EQ(ue4m3_from_f32(std::numeric_limits<float>::quiet_NaN()), 0);
}

class Fp4Kernels : public testing::TestWithParam<TensorType> {};

/// Every magnitude around the largest value of a block, for every scale: middles between codes,
/// their neighbours, and much larger blocks than the scale can follow.
TEST_P(Fp4Kernels, EqualTheReferenceAtTheMiddlesBetweenCodes) {
  const TensorTypeInfo info = *find_type(GetParam());
  const codec::Codec& codec = *codec::find_codec(info.type);
  std::vector<float> floats;
  for (int exponent = -149; exponent <= 127; ++exponent) {
    for (int eighths = 8; eighths < 16; ++eighths) {
      const float largest = std::ldexp(static_cast<float>(eighths) / 8, exponent);
      for (std::size_t i = 0; i < 64; ++i) {
        const float part = static_cast<float>(i % 32) / 32;
        const float value = i % 16 == 0 ? largest : largest * part;
        floats.push_back(i % 3 == 0 ? -value : i % 3 == 1 ? value : std::nextafter(value, 0.0f));
      }
    }
  }
  for (const std::int64_t target : cpu_targets()) {
    const ForcedTarget forced(target);
    std::vector<std::byte> expected(floats.size() / info.block_elements * info.block_bytes);
    std::vector<std::byte> actual(expected.size());
    codec::FloatRows rows = {.src = floats.data(),
                             .dst = expected.data(),
                             .row_elements = floats.size(),
                             .row_count = 1};
    codec.quantize_ref(rows);
    rows.dst = actual.data();
    codec.quantize(rows);
    EXPECT_TRUE(same_blocks(expected, actual, info.block_bytes)) << target_name(target);
  }
}

INSTANTIATE_TEST_SUITE_P(, Fp4Kernels, testing::Values(TensorType::mxfp4, TensorType::nvfp4),
                         [](const auto& type) { return std::string(find_type(type.param)->name); });

}  // namespace
}  // namespace ingot::test
