// SPDX-License-Identifier: MIT
// Weights on lattices are found, and encoded without a second rounding; others are not, and stay
// as the reference encodes them.
#include "ingot/weight_grid.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

#include "ingot/half.hpp"
#include "ingot/parallel.hpp"
#include "ingot/quantize.hpp"
#include "support/expect_error.hpp"
#include "support/random.hpp"

namespace ingot::test {
namespace {

constexpr std::size_t grid_columns = 1024;
constexpr std::size_t grid_elements = 16 * grid_columns;

enum class Rounding { f32, bf16, f16 };
constexpr Rounding all_roundings[] = {Rounding::f32, Rounding::bf16, Rounding::f16};

float round_to(Rounding rounding, double value) {
  const auto number = static_cast<float>(value);
  if (rounding == Rounding::f16) return f32_from_f16(f16_from_f32(number));
  if (rounding == Rounding::bf16) return f32_from_bf16(bf16_from_f32(number));
  return number;
}

class RandomReal {
 public:
  explicit RandomReal(std::uint64_t seed) : random_(seed) {}

  /// Above 0, at most 1.
  double unit() { return (static_cast<double>(random_.below(1u << 24)) + 1) * 0x1p-24; }
  double normal() {
    return std::sqrt(-2 * std::log(unit())) * std::cos(6.283185307179586 * unit());
  }

 private:
  Random random_;
};

struct GridLattice {
  int lowest = -8;
  int highest = 7;
  std::size_t group = 32;
  bool has_f16_scales = false;
  double minimum = 0.0;  ///< In steps.
};

/// Numbers on a lattice before they are rounded.
std::vector<double> lattice_numbers(const GridLattice& lattice, std::uint64_t seed) {
  RandomReal random(seed);
  std::vector<double> numbers(grid_elements);
  double scale = 0;
  double minimum = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i % lattice.group == 0) {
      const double wanted = 0.01 * std::exp(0.4 * random.normal());
      scale = round_to(lattice.has_f16_scales ? Rounding::f16 : Rounding::f32, wanted);
      minimum = lattice.minimum * scale;
      if (lattice.minimum != 0) minimum *= 1 + 0.1 * random.normal();
      if (lattice.has_f16_scales) minimum = round_to(Rounding::f16, minimum);
    }
    const double middle = 0.5 * (lattice.lowest + lattice.highest);
    const double spread = 0.2 * (lattice.highest - lattice.lowest);
    const double code = std::round(middle + spread * random.normal());
    numbers[i] = scale * std::clamp<double>(code, lattice.lowest, lattice.highest) - minimum;
  }
  return numbers;
}

std::vector<float> all_rounded(std::span<const double> numbers, Rounding rounding) {
  std::vector<float> result;
  for (const double number : numbers) result.push_back(round_to(rounding, number));
  return result;
}

std::vector<float> rounded_bf16(std::span<const float> numbers) {
  return all_rounded(std::vector<double>(numbers.begin(), numbers.end()), Rounding::bf16);
}

double distance_of(std::span<const float> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
  return std::sqrt(sum);
}

struct GridRows {
  std::vector<std::byte> blocks;
  std::vector<float> decoded;
};

GridRows encode_rows(TensorType type, std::span<const float> floats, Effort effort) {
  GridRows result{std::vector<std::byte>(find_type(type)->bytes_of(floats.size())),
                  std::vector<float>(floats.size())};
  EXPECT_THAT(quantize_spread(type, floats, grid_columns, result.blocks, 2, {.effort = effort}),
              Succeeds());
  EXPECT_THAT(dequantize(type, result.blocks, result.decoded), Succeeds());
  return result;
}

TEST(WeightGrid, FindsLatticesOfAnyBitsGroupsAndRounding) {
  std::uint64_t seed = 0;
  for (const auto& [bits, lowest, highest] : {std::tuple(2u, -1, 1), std::tuple(3u, -4, 3),
                                              std::tuple(4u, -8, 7), std::tuple(5u, -15, 15)}) {
    for (const std::size_t group : {16u, 32u, 64u, 128u, 256u, 1024u}) {
      for (const Rounding rounding : all_roundings) {
        const auto size = static_cast<std::uint32_t>(std::min<std::size_t>(group, 256));
        GridLattice lattice{lowest, highest, group};
        EXPECT_EQ(find_grid(all_rounded(lattice_numbers(lattice, ++seed), rounding), grid_columns),
                  (WeightGrid{bits, size, false}))
            << bits << " bits, groups of " << group;
        if (bits == 2) continue;  // Its groups of 16 have too few levels to tell.
        lattice.minimum = 2.7;
        const auto found =
            find_grid(all_rounded(lattice_numbers(lattice, ++seed), rounding), grid_columns);
        EXPECT_EQ(found, (WeightGrid{bits, size, true})) << bits << " bits, groups of " << group;
      }
    }
  }
}

TEST(WeightGrid, FindsNoneAmongOtherWeights) {
  RandomReal random(1);
  for (int i = 0; i < 240; ++i) {
    const double size = 0.02 * std::exp(2 * random.normal());
    std::vector<float> floats(grid_elements);
    for (float& number : floats) {
      const double value = i % 4 == 0   ? random.normal()
                           : i % 4 == 1 ? 2 * random.unit() - 1
                           : i % 4 == 2 ? std::log(random.unit()) * (random.unit() < 0.5 ? 1 : -1)
                                        : random.normal() / random.normal();
      number = round_to(all_roundings[i % 3], size * value);
    }
    const auto found = find_grid(floats, grid_columns);
    EXPECT_FALSE(found.has_value()) << i << ": " << grid_text(*found);
    if (i >= 12) continue;
    EXPECT_EQ(encode_rows(TensorType::q4_0, floats, Effort::automatic).blocks,
              encode_rows(TensorType::q4_0, floats, Effort::reference).blocks);
  }
}

/// int4 checkpoints in BF16: nothing is lost but what the rounding to BF16 and that of the scale
/// lose.
TEST(WeightGrid, IsEncodedWithoutASecondRounding) {
  std::uint64_t seed = 0;
  for (const int lowest : {-8, -7}) {
    for (const std::size_t group : {32u, 64u, 128u}) {
      for (const bool is_exact : {false, true}) {
        const auto numbers = lattice_numbers({lowest, 7, group, is_exact}, ++seed);
        const auto source = all_rounded(numbers, Rounding::bf16);
        const std::vector<double> wide(source.begin(), source.end());
        for (const TensorType type : {TensorType::q4_0, TensorType::q4_1, TensorType::q5_0,
                                      TensorType::q5_1, TensorType::q8_0}) {
          const GridRows found = encode_rows(type, source, Effort::automatic);
          EXPECT_LE(distance_of(found.decoded, wide), 1.03 * distance_of(source, numbers))
              << find_type(type)->name << " " << lowest << " " << group;
          if (!is_exact) continue;
          EXPECT_EQ(rounded_bf16(found.decoded), source)
              << find_type(type)->name << " " << lowest << " " << group;
        }
      }
    }
  }
}

TEST(WeightGrid, OfATypeThatDoesNotHoldItGetsTheReference) {
  const auto floats = all_rounded(lattice_numbers({-8, 7, 32, false, 2.7}, 1), Rounding::bf16);
  for (const TensorType type : {TensorType::q4_0, TensorType::q3_k, TensorType::iq4_nl}) {
    EXPECT_EQ(encode_rows(type, floats, Effort::automatic).blocks,
              encode_rows(type, floats, Effort::reference).blocks);
  }
  EXPECT_EQ(effort_for(TensorType::q4_0, WeightGrid{5, 32, false}), Effort::reference);
  EXPECT_EQ(effort_for(TensorType::q4_0, WeightGrid{4, 16, false}), Effort::reference);
  EXPECT_EQ(effort_for(TensorType::q4_0, WeightGrid{4, 32, true}), Effort::reference);
  EXPECT_EQ(effort_for(TensorType::q4_0, std::nullopt), Effort::reference);
  EXPECT_EQ(effort_for(TensorType::q4_0, WeightGrid{4, 128, false}), Effort::automatic);
  EXPECT_EQ(effort_for(TensorType::q5_1, WeightGrid{4, 128, true}), Effort::automatic);
  EXPECT_EQ(effort_for(TensorType::q4_k, WeightGrid{4, 32, true}), Effort::automatic);
  EXPECT_EQ(effort_for(TensorType::q4_k, WeightGrid{5, 32, false}), Effort::reference);
  EXPECT_EQ(effort_for(TensorType::q5_k, WeightGrid{5, 64, true}), Effort::automatic);
  EXPECT_EQ(effort_for(TensorType::q6_k, WeightGrid{4, 32, false}), Effort::best);
}

/// As MLX has them: real minimums in binary16.
TEST(WeightGrid, WithMinimumsIsEncodedWithoutASecondRounding) {
  std::uint64_t seed = 0;
  for (const std::size_t group : {32u, 64u}) {
    const auto numbers = lattice_numbers({0, 15, group, true, 8.2}, ++seed);
    const auto source = all_rounded(numbers, Rounding::bf16);
    for (const TensorType type : {TensorType::q4_1, TensorType::q5_1}) {
      EXPECT_EQ(rounded_bf16(encode_rows(type, source, Effort::automatic).decoded), source)
          << find_type(type)->name << " " << group;
    }
  }
}

/// One lattice for a super-block, as of int4 with a scale for each row.
TEST(WeightGrid, OfSuperBlocksIsEncodedWithoutASecondRounding) {
  std::uint64_t seed = 0;
  for (const GridLattice& lattice :
       {GridLattice{-8, 7, 256}, GridLattice{-7, 7, 256}, GridLattice{-8, 7, 1024},
        GridLattice{-8, 7, 256, true}, GridLattice{-7, 7, 1024, true},
        GridLattice{0, 15, 256, true, 8.2}, GridLattice{0, 15, 1024, false, 8.2}}) {
    const auto numbers = lattice_numbers(lattice, ++seed);
    const auto source = all_rounded(numbers, Rounding::bf16);
    const std::vector<double> wide(source.begin(), source.end());
    for (const TensorType type : {TensorType::q4_k, TensorType::q5_k}) {
      const GridRows found = encode_rows(type, source, Effort::automatic);
      EXPECT_LE(distance_of(found.decoded, wide), 1.03 * distance_of(source, numbers))
          << find_type(type)->name << " " << seed;
      if (!lattice.has_f16_scales || lattice.minimum != 0) continue;
      EXPECT_EQ(rounded_bf16(found.decoded), source) << find_type(type)->name << " " << seed;
    }
  }
}

/// The scales of several lattices in a super-block are rounded to 6 bits; integers, and zeros,
/// stay.
TEST(WeightGrid, OfGroupsOfASuperBlockIsNearerThanTheReference) {
  std::uint64_t seed = 0;
  for (const auto& [lattice, gain] :
       {std::pair(GridLattice{-8, 7, 32}, 6.0), std::pair(GridLattice{-7, 7, 128}, 15.0),
        std::pair(GridLattice{0, 15, 64, true, 8.2}, 3.0)}) {
    const auto source = all_rounded(lattice_numbers(lattice, ++seed), Rounding::bf16);
    for (const TensorType type : {TensorType::q4_k, TensorType::q5_k}) {
      const GridRows found = encode_rows(type, source, Effort::automatic);
      const GridRows reference = encode_rows(type, source, Effort::reference);
      double sum = 0;
      double reference_sum = 0;
      for (std::size_t first = 0; first < source.size(); first += 256) {
        const auto part = std::span(source).subspan(first, 256);
        const std::vector<double> block(part.begin(), part.end());
        const double error = distance_of(std::span(found.decoded).subspan(first, 256), block);
        const double old = distance_of(std::span(reference.decoded).subspan(first, 256), block);
        EXPECT_LE(error, old) << find_type(type)->name << " " << seed;
        sum += error;
        reference_sum += old;
      }
      EXPECT_LE(gain * sum, reference_sum) << find_type(type)->name << " " << seed;
      for (std::size_t i = 0; i < source.size() && lattice.minimum == 0; ++i) {
        ASSERT_EQ(found.decoded[i] == 0, source[i] == 0) << find_type(type)->name << " " << i;
      }
    }
  }
}

TEST(WeightGrid, HasAFewExceptionsAtMost) {
  auto floats = all_rounded(lattice_numbers({}, 1), Rounding::bf16);
  const auto others = all_rounded(lattice_numbers({-20000, 20000, 16}, 2), Rounding::f32);
  std::copy_n(others.begin(), 100, floats.begin() + 5 * grid_columns + 256);
  EXPECT_TRUE(find_grid(floats, grid_columns).has_value());
  std::copy_n(others.begin(), grid_elements / 2, floats.begin());
  EXPECT_FALSE(find_grid(floats, grid_columns).has_value());
}

TEST(WeightGrid, IsNotWhatHasTooFewNumbers) {
  std::vector<float> floats(grid_elements);
  EXPECT_FALSE(find_grid(floats, grid_columns).has_value());
  floats[5] = 1.0f;
  EXPECT_FALSE(find_grid(floats, grid_columns).has_value());
  EXPECT_FALSE(find_grid(floats, 0).has_value());
  EXPECT_FALSE(find_grid(std::span(floats).first(31), 31).has_value());
  EXPECT_FALSE(find_grid({}, grid_columns).has_value());
  floats.assign(grid_elements, std::numeric_limits<float>::quiet_NaN());
  EXPECT_FALSE(find_grid(floats, grid_columns).has_value());
  floats.assign(grid_elements, std::numeric_limits<float>::infinity());
  EXPECT_FALSE(find_grid(floats, grid_columns).has_value());
}

TEST(WeightGrid, IsNamed) {
  EXPECT_EQ(grid_text({4, 32, false}), "4-bit lattice, groups of 32");
  EXPECT_EQ(grid_text({3, 256, true}), "3-bit lattice with minimums, groups of 256 or more");
}

}  // namespace
}  // namespace ingot::test
