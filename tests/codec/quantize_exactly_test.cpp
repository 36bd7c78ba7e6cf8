// SPDX-License-Identifier: MIT
// Numbers that a type holds come back bit for bit; others are refused.
#include "ingot/quantize_exactly.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "ingot/half.hpp"
#include "ingot/quantize.hpp"
#include "support/expect_error.hpp"
#include "support/random.hpp"

namespace ingot::test {
namespace {

constexpr std::size_t exact_elements = 32 * 50;

/// The form of the numbers that a type holds: scale * code + minimum, in blocks of 32.
struct Lattice {
  TensorType type;
  int lowest, highest;
  bool has_minimum;
};

/// Every other block has few of the codes, with large steps.
std::vector<float> numbers_on(const Lattice& lattice, Random& random) {
  std::vector<float> numbers(exact_elements);
  float scale = 0;
  float minimum = 0;
  const auto steps = static_cast<std::uint64_t>(lattice.highest - lattice.lowest) + 1;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i % 32 == 0) {
      const float sign = random.below(2) == 0 ? 1.0f : -1.0f;
      scale = sign * f32_from_f16(static_cast<std::uint16_t>(0x0C00 + random.below(0x2000)));
      minimum = lattice.has_minimum ? -scale * static_cast<float>(random.below(steps)) : 0.0f;
      minimum = f32_from_f16(f16_from_f32(minimum));
    }
    const std::uint64_t step = i / 32 % 2 == 0 ? 1 : 5;
    const auto code = static_cast<int>(random.below((steps - 1) / step + 1) * step);
    numbers[i] = static_cast<float>(lattice.lowest + code) * scale + minimum;
    if (!lattice.has_minimum && lattice.lowest + code == 0) numbers[i] = 0.0f * scale;
  }
  return numbers;
}

bool comes_back(TensorType type, std::span<const float> numbers) {
  std::vector<std::byte> blocks(find_type(type)->bytes_of(numbers.size()));
  const auto is_exact = quantize_exactly(type, numbers, blocks);
  EXPECT_TRUE(is_exact.has_value());
  std::vector<float> decoded(numbers.size());
  EXPECT_THAT(dequantize(type, blocks, decoded), Succeeds());
  const bool is_same = std::memcmp(decoded.data(), numbers.data(), numbers.size_bytes()) == 0;
  EXPECT_TRUE(is_same || !*is_exact);
  return *is_exact;
}

constexpr Lattice lattices[] = {{TensorType::q4_0, -8, 7, false},
                                {TensorType::q4_1, 0, 15, true},
                                {TensorType::q5_0, -16, 15, false},
                                {TensorType::q5_1, 0, 31, true},
                                {TensorType::q8_0, -128, 127, false}};

TEST(QuantizeExactly, FindsTheLatticeOfEachType) {
  Random random;
  for (const Lattice& lattice : lattices) {
    EXPECT_TRUE(comes_back(lattice.type, numbers_on(lattice, random)))
        << find_type(lattice.type)->name;
  }
}

TEST(QuantizeExactly, RefusesANumberThatIsOff) {
  Random random;
  for (const Lattice& lattice : lattices) {
    std::vector<float> numbers = numbers_on(lattice, random);
    numbers[77] = std::nextafter(numbers[77] == 0 ? 1.0f : numbers[77], 2.0f);
    EXPECT_FALSE(comes_back(lattice.type, numbers)) << find_type(lattice.type)->name;
  }
}

/// One code too many, or both signs of zero.
TEST(QuantizeExactly, RefusesWhatOnlyAWiderTypeHolds) {
  std::vector<float> numbers(32, 0.5f);
  numbers[3] = -4.0f;
  EXPECT_TRUE(comes_back(TensorType::q4_0, numbers));
  numbers[4] = 4.0f;
  EXPECT_FALSE(comes_back(TensorType::q4_0, numbers));
  EXPECT_TRUE(comes_back(TensorType::q5_0, numbers));
  numbers[5] = 0.0f;
  EXPECT_TRUE(comes_back(TensorType::q5_0, numbers));
  numbers[6] = -0.0f;
  EXPECT_FALSE(comes_back(TensorType::q8_0, numbers));
  EXPECT_TRUE(comes_back(TensorType::bf16, numbers));
}

/// The numbers of random blocks, of all scales.
TEST(QuantizeExactly, FindsTheScalesOfFp4) {
  Random random;
  for (const TensorType type : {TensorType::mxfp4, TensorType::nvfp4}) {
    const std::size_t scale_bytes = type == TensorType::mxfp4 ? 1 : 4;
    std::vector<float> numbers(exact_elements);
    std::vector<std::byte> blocks(find_type(type)->bytes_of(numbers.size()));
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      // The largest scales of MXFP4 are beyond binary32; those of 0 would make zeros with signs.
      const bool is_scale = i % find_type(type)->block_bytes < scale_bytes;
      const std::uint64_t limit = !is_scale ? 256 : type == TensorType::mxfp4 ? 252 : 126;
      blocks[i] = static_cast<std::byte>(random.below(limit) + (limit == 126 ? 1 : 0));
    }
    EXPECT_THAT(dequantize(type, blocks, numbers), Succeeds());
    EXPECT_TRUE(comes_back(type, numbers)) << find_type(type)->name;
    EXPECT_EQ(comes_back(TensorType::q4_0, numbers), false);
    numbers[70] = std::nextafter(numbers[70], 1.0f);
    EXPECT_FALSE(comes_back(type, numbers)) << find_type(type)->name;
    numbers[70] = std::numeric_limits<float>::infinity();
    EXPECT_FALSE(comes_back(type, numbers)) << find_type(type)->name;
    numbers.assign(numbers.size(), 0.0f);
    EXPECT_TRUE(comes_back(type, numbers)) << find_type(type)->name;
  }
}

/// Their code for -0 is decoded to +0.
TEST(QuantizeExactly, KeepsTheSignOfZerosOfFp4InTheCode) {
  std::vector<float> numbers(32, 0.5f);
  numbers[16] = -0.0f;
  std::vector<std::byte> blocks(17);
  EXPECT_THAT(quantize_exactly(TensorType::mxfp4, numbers, blocks), testing::Optional(true));
  EXPECT_EQ(blocks[1], std::byte{0x86});
}

TEST(QuantizeExactly, KeepsNumbersOfSixteenBits) {
  const std::vector<float> halves(32, 1.0f + 1.0f / 1024);
  EXPECT_TRUE(comes_back(TensorType::f16, halves));
  EXPECT_FALSE(comes_back(TensorType::bf16, halves));
  const std::vector<float> large(32, 0x1p60f);
  EXPECT_FALSE(comes_back(TensorType::f16, large));
  EXPECT_TRUE(comes_back(TensorType::bf16, large));
  EXPECT_TRUE(comes_back(TensorType::f32, std::vector<float>(32, 0.1f)));
}

TEST(QuantizeExactly, RefusesOtherTypesAndSizes) {
  std::vector<float> numbers(32);
  std::vector<std::byte> blocks(18);
  EXPECT_THAT(quantize_exactly(TensorType::q4_k, numbers, blocks),
              FailsWith(Errc::unsupported_type));
  EXPECT_THAT(quantize_exactly(TensorType::q8_0, numbers, blocks), FailsWith(Errc::size_mismatch));
  numbers.resize(31);
  EXPECT_THAT(quantize_exactly(TensorType::q4_0, numbers, blocks), FailsWith(Errc::size_mismatch));
}

}  // namespace
}  // namespace ingot::test
