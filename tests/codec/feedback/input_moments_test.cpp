// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ingot/error_feedback.hpp"
#include "support/correlated_inputs.hpp"

namespace ingot::test {
namespace {

using Floats = std::vector<float>;

Floats row_of(std::size_t count, std::uint64_t seed) {
  EvenNumbers numbers(seed);
  Floats row(count);
  for (float& value : row) value = numbers.next();
  return row;
}

/// Blocks of 24, 24 and 5 columns.
struct ThreeBlocks {
  ThreeBlocks() {
    for (std::size_t block = 0; block < 3; ++block) {
      blocks.push_back(correlated_moments(moments.columns_of(block), 1 + block));
      EXPECT_TRUE(moments.set_block(block, blocks.back()));
    }
  }
  /// H, with zeros between the blocks.
  [[nodiscard]] double at(std::size_t i, std::size_t j) const {
    if (i / 24 != j / 24) return 0.0;
    const std::size_t size = moments.columns_of(i / 24);
    return double{blocks[i / 24][i % 24 * size + j % 24]};
  }

  InputMoments moments{53, 24, true};
  std::vector<Floats> blocks;
};

TEST(InputMomentsTest, MultipliesTwoRows) {
  const ThreeBlocks given;
  ASSERT_EQ(given.moments.block_count(), 3u);
  ASSERT_EQ(given.moments.columns_of(2), 5u);
  const Floats x = row_of(53, 5);
  const Floats y = row_of(53, 6);
  double expected = 0.0;
  for (std::size_t i = 0; i < 53; ++i) {
    for (std::size_t j = 0; j < 53; ++j) expected += double{x[i]} * given.at(i, j) * double{y[j]};
  }
  Floats of_x(53);
  Floats of_y(53);
  given.moments.multiply_upper(x.data(), of_x.data());
  given.moments.multiply_upper(y.data(), of_y.data());
  EXPECT_NEAR(given.moments.product(x.data(), of_x.data(), y.data(), of_y.data()), expected,
              1e-5 * std::fabs(expected) + 1e-6);
}

TEST(InputMomentsTest, TakesTheInverseApart) {
  const ThreeBlocks given;
  // The rows of U, from the weights and from what an error of -1 feeds back.
  std::vector<std::vector<double>> u;
  for (std::size_t j = 0; j < 53; ++j) {
    Floats row(53);
    given.moments.feed_back(j, -1.0f, row.data());
    const double own = 1.0 / std::sqrt(double{given.moments.residual_weights()[j]});
    u.emplace_back();
    for (const float factor : row) u.back().push_back(own * double{factor});
    EXPECT_EQ(u.back()[j], 0.0) << "the column itself stays";
    u.back()[j] = own;
  }
  for (std::size_t block = 0; block < 3; ++block) {
    const std::size_t first = 24 * block;
    const std::size_t size = given.moments.columns_of(block);
    double trace = 0.0;
    for (std::size_t i = first; i < first + size; ++i) trace += given.at(i, i);
    // U^T U (H + damping) is the identity.
    for (std::size_t i = first; i < first + size; ++i) {
      for (std::size_t k = first; k < first + size; ++k) {
        double sum = 0.0;
        for (std::size_t j = first; j < first + size; ++j) {
          double inverse = 0.0;
          for (std::size_t l = first; l < first + size; ++l) inverse += u[l][i] * u[l][j];
          sum += inverse * (given.at(j, k) + (j == k ? 0.01 * trace / double(size) : 0.0));
        }
        EXPECT_NEAR(sum, i == k ? 1.0 : 0.0, 1e-4) << i << ' ' << k;
      }
    }
  }
}

TEST(InputMomentsTest, KeepsColumnsWithoutInputsApart) {
  InputMoments moments(8, 8, true);
  ASSERT_TRUE(moments.set_block(0, Floats(64)));
  Floats row(8, 2.0f);
  moments.feed_back(0, 1.0f, row.data());
  EXPECT_EQ(row, Floats(8, 2.0f));
  EXPECT_EQ(moments.residual_weights()[3], 1.0f);
}

TEST(InputMomentsTest, RefusesWhatIsNoMeanOfProducts) {
  const auto is_taken = [](const Floats& block, bool has_feedback = true) {
    InputMoments moments(2, 2, has_feedback);
    return moments.set_block(0, block);
  };
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(is_taken({1, 0.9f, 0.9f, 1}));
  EXPECT_TRUE(is_taken({1, 1, 1, 1})) << "columns that are always equal";
  EXPECT_TRUE(is_taken({0, 0, 0, 1})) << "a column without inputs";
  EXPECT_FALSE(is_taken({1, 2, 2, 1})) << "an eigenvalue of -1";
  EXPECT_FALSE(is_taken({-1, 0, 0, -1}));
  EXPECT_FALSE(is_taken({1, 0, 0, -1}));
  EXPECT_FALSE(is_taken({nan, 0, 0, 1}));
  EXPECT_FALSE(is_taken({1, nan, 0, 1}));
  EXPECT_FALSE(is_taken({3e38f, 0, 0, 3e38f})) << "too large";
  EXPECT_TRUE(is_taken({1, 2, 2, 1}, false)) << "only feedback needs an inverse";
}

}  // namespace
}  // namespace ingot::test
