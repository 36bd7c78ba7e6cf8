// SPDX-License-Identifier: MIT
// The points that error feedback chooses are the best of all, whatever signs are allowed.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "codec/feedback/recode_points.hpp"
#include "support/correlated_inputs.hpp"

namespace ingot::test {
namespace {

using codec::Octet;

double cost_of(const Octet& x, const Octet& w, const Octet& y) {
  double cost = 0.0;
  for (std::size_t i = 0; i < 8; ++i) {
    const double e = double{x[i]} - double{y[i]};
    cost += double{w[i]} * e * e;
  }
  return cost;
}

/// The least cost of the points at `first` and so on, for each choice of their signs.
template <class Grid>
double least_of_quads(const Octet& x, const Octet& w, float factor, unsigned signs) {
  double sum = 0.0;
  for (const std::size_t first : {0u, 4u}) {
    double least = INFINITY;
    for (unsigned code : Grid::codes) {
      double cost = 0.0;
      for (std::size_t i = first; i < first + 4; ++i, code /= 8) {
        const float y = factor * static_cast<float>(Grid::levels[code % 8]);
        const double e = double{x[i]} - double{(signs >> i & 1u) != 0 ? -y : y};
        cost += double{w[i]} * e * e;
      }
      least = std::min(least, cost);
    }
    sum += least;
  }
  return sum;
}

template <class Grid>
double least_of_octets(const Octet& x, const Octet& w, float factor, unsigned signs) {
  double least = INFINITY;
  for (unsigned code : Grid::codes) {
    Octet y;
    for (std::size_t i = 0; i < 8; ++i, code /= 3) {
      const float level = factor * static_cast<float>(Grid::levels[code % 3]);
      y[i] = (signs >> i & 1u) != 0 ? -level : level;
    }
    least = std::min(least, cost_of(x, w, y));
  }
  return least;
}

template <class Grid>
void expect_best(bool is_quad) {
  EvenNumbers numbers(3);
  codec::SignedOctet<Grid> choice;
  for (int round = 0; round < 12; ++round) {
    Octet x;
    Octet w;
    for (float& value : x) value = 0.1f * numbers.next();
    for (float& value : w) value = 1.01f + numbers.next();
    const float factor = is_quad ? 0.003f : 0.002f;
    codec::BlockPoints found;
    const Octet y = choice.Run(x.data(), w.data(), factor, 5, found);
    EXPECT_TRUE(!Grid::has_even_signs || std::popcount(found.signs[5]) % 2 == 0);
    double least = INFINITY;
    for (unsigned signs = 0; signs < 256; ++signs) {
      if (Grid::has_even_signs && std::popcount(signs) % 2 != 0) continue;
      least = std::min(least, is_quad ? least_of_quads<Grid>(x, w, factor, signs)
                                      : least_of_octets<Grid>(x, w, factor, signs));
    }
    EXPECT_NEAR(cost_of(x, w, y), least, 1e-5 * least) << round;
  }
}

TEST(PointChoiceTest, FindsTheBestPointWithFreeSigns) {
  expect_best<codec::GridIQ2_S>(false);
  expect_best<codec::GridIQ3_S>(true);
}

TEST(PointChoiceTest, FindsTheBestPointWithEvenSigns) {
  expect_best<codec::GridIQ2_XXS>(false);
  expect_best<codec::GridIQ2_XS>(false);
  expect_best<codec::GridIQ3_XXS>(true);
}

}  // namespace
}  // namespace ingot::test
