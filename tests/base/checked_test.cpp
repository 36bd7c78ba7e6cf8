// SPDX-License-Identifier: MIT
#include "base/checked.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace ingot::test {
namespace {

constexpr std::uint64_t maximum = std::numeric_limits<std::uint64_t>::max();

// Usable where a table is built at compile time.
static_assert(checked_add(1, 2) == 3 && checked_mul(2, 3) == 6 && checked_align_up(5, 4) == 8);

TEST(CheckedAdd, AddsUpToTheLargestNumber) {
  EXPECT_EQ(checked_add(0, 0), 0u);
  EXPECT_EQ(checked_add(maximum, 0), maximum);
  EXPECT_EQ(checked_add(maximum - 1, 1), maximum);
}

TEST(CheckedAdd, SaysWhenItDoesNotFit) {
  EXPECT_EQ(checked_add(maximum, 1), std::nullopt);
  EXPECT_EQ(checked_add(1, maximum), std::nullopt);
  EXPECT_EQ(checked_add(maximum, maximum), std::nullopt);
}

TEST(CheckedMul, MultipliesUpToTheLargestNumber) {
  EXPECT_EQ(checked_mul(0, maximum), 0u);
  EXPECT_EQ(checked_mul(maximum, 1), maximum);
  EXPECT_EQ(checked_mul(0xFFFFFFFF, 0x100000001), maximum);
}

TEST(CheckedMul, SaysWhenItDoesNotFit) {
  EXPECT_EQ(checked_mul(0x100000000, 0x100000000), std::nullopt);  // would wrap to 0
  EXPECT_EQ(checked_mul(maximum, 2), std::nullopt);
  EXPECT_EQ(checked_mul(maximum, maximum), std::nullopt);  // would wrap to 1
}

TEST(CheckedAlignUp, GoesToTheNextMultiple) {
  EXPECT_EQ(checked_align_up(0, 32), 0u);
  EXPECT_EQ(checked_align_up(1, 32), 32u);
  EXPECT_EQ(checked_align_up(31, 32), 32u);
  EXPECT_EQ(checked_align_up(32, 32), 32u);
  EXPECT_EQ(checked_align_up(33, 32), 64u);
}

TEST(CheckedAlignUp, TakesAnyAlignmentAboveZero) {
  EXPECT_EQ(checked_align_up(7, 1), 7u);
  EXPECT_EQ(checked_align_up(25, 24), 48u);
  EXPECT_EQ(checked_align_up(1, maximum), maximum);
}

TEST(CheckedAlignUp, SaysWhenItDoesNotFit) {
  EXPECT_EQ(checked_align_up(maximum - 31, 32), maximum - 31);
  EXPECT_EQ(checked_align_up(maximum - 30, 32), std::nullopt);
  EXPECT_EQ(checked_align_up(maximum, 8), std::nullopt);
}

TEST(MultiplyWide, KeepsAllBitsWithAndWithoutNumbersOf128Bits) {
  EXPECT_EQ(multiply_halves(maximum, maximum), (WideProduct{1, maximum - 1}));
  EXPECT_EQ(multiply_halves(std::uint64_t{1} << 63, 6), (WideProduct{0, 3}));
  std::uint64_t a = 0x9e3779b97f4a7c15;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t b = a * 0xbf58476d1ce4e5b9 + 1;
    EXPECT_EQ(multiply_halves(a, b), multiply_wide(a, b));
    EXPECT_EQ(multiply_halves(a, b).low, a * b);
    a = b;
  }
}

TEST(ToSize, GivesWhatNothingHasForWhatIsTooLarge) {
  EXPECT_EQ(to_size(0), 0u);
  EXPECT_EQ(to_size(4096), 4096u);
  EXPECT_EQ(to_size(maximum), std::numeric_limits<std::size_t>::max());
}

TEST(CheckedNumber, RemembersAnOverflowToTheEnd) {
  EXPECT_EQ((CheckedNumber(2) * 3 + 4).value(), 10u);
  EXPECT_EQ((CheckedNumber(maximum) + 0).value(), maximum);
  EXPECT_FALSE((CheckedNumber(maximum) + 1).value().has_value());
  EXPECT_FALSE((CheckedNumber(maximum) * 2).value().has_value());
  EXPECT_FALSE(((CheckedNumber(maximum) + 1) * 0).value().has_value());
  CheckedNumber sum = 1;
  sum += maximum;
  sum += 5;
  EXPECT_FALSE(sum.value().has_value());
}

TEST(CheckedNumber, AnOverflowIsTheLargest) {
  EXPECT_EQ(max(CheckedNumber(3), 7).value(), 7u);
  EXPECT_FALSE(max(CheckedNumber(maximum) + 1, 7).value().has_value());
}

}  // namespace
}  // namespace ingot::test
