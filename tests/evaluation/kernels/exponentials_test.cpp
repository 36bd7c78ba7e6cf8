// SPDX-License-Identifier: MIT
#include "evaluation/kernels/exponentials.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace ingot::evaluation::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// Scores of one token after the other: in [-60, 60], and some keys that a token does not see.
std::vector<float> random_scores(std::size_t key_count, std::mt19937& random) {
  std::vector<float> scores(key_count * panel_tokens);
  for (float& score : scores) {
    const auto bits = static_cast<std::int32_t>(random() % 120'001);
    score = random() % 5 == 0 ? -infinity : static_cast<float>(bits - 60'000) / 1000.0F;
  }
  return scores;
}

TEST(WeighScores, GivesTheSoftmaxOfAllBlocks) {
  std::mt19937 random(7);
  constexpr std::size_t keys = 300;
  const std::vector<float> scores = random_scores(keys, random);
  for (const std::size_t block : {1u, 7u, 100u, 300u}) {
    PanelSoftmax softmax;
    softmax.largest.fill(std::numeric_limits<float>::lowest());
    softmax.sums.fill(0.0F);
    AlignedFloats buffer(keys * panel_tokens);
    AlignedFloats factors(panel_tokens);
    std::vector<float> weights;
    for (std::size_t key = 0; key < keys; key += block) {
      const std::size_t count = std::min(block, keys - key);
      std::copy_n(scores.data() + key * panel_tokens, count * panel_tokens, buffer.data());
      weigh_scores(buffer.data(), count, softmax, factors.data());
      scale_tokens(weights.data(), 0, factors.data());  // no row
      for (std::size_t i = 0; i < weights.size(); ++i) {
        weights[i] *= factors.data()[i % panel_tokens];
      }
      weights.insert(weights.end(), buffer.data(), buffer.data() + count * panel_tokens);
    }
    for (std::size_t token = 0; token < panel_tokens; ++token) {
      double largest = -std::numeric_limits<double>::infinity();
      for (std::size_t key = 0; key < keys; ++key) {
        largest = std::max(largest, static_cast<double>(scores[key * panel_tokens + token]));
      }
      double sum = 0.0;
      for (std::size_t key = 0; key < keys; ++key) {
        const std::size_t at = key * panel_tokens + token;
        const double wanted = std::exp(static_cast<double>(scores[at]) - largest);
        sum += wanted;
        // Some units in the last place: of the difference, whose size counts in the exponent, too.
        ASSERT_NEAR(weights[at], wanted, 1e-5 * wanted + 1e-37) << token << " " << key;
      }
      ASSERT_NEAR(softmax.sums[token], sum, 1e-5 * sum);
    }
  }
}

TEST(WeighScores, NeedsNoKeyThatIsSeen) {
  PanelSoftmax softmax;
  softmax.largest.fill(std::numeric_limits<float>::lowest());
  softmax.sums.fill(0.0F);
  AlignedFloats scores(panel_tokens);
  AlignedFloats factors(panel_tokens);
  std::fill_n(scores.data(), panel_tokens, -infinity);
  weigh_scores(scores.data(), 1, softmax, factors.data());
  for (std::size_t token = 0; token < panel_tokens; ++token) {
    EXPECT_EQ(scores.data()[token], 0.0F);
    EXPECT_EQ(softmax.sums[token], 0.0F);
  }
}

TEST(ScaleTokens, MultipliesEachRow) {
  AlignedFloats rows(3 * panel_tokens);
  AlignedFloats factors(panel_tokens);
  for (std::size_t i = 0; i < 3 * panel_tokens; ++i) rows.data()[i] = static_cast<float>(i);
  for (std::size_t i = 0; i < panel_tokens; ++i) factors.data()[i] = static_cast<float>(i) + 0.5F;
  scale_tokens(rows.data(), 3, factors.data());
  for (std::size_t i = 0; i < 3 * panel_tokens; ++i) {
    EXPECT_EQ(rows.data()[i],
              static_cast<float>(i) * (static_cast<float>(i % panel_tokens) + 0.5F));
  }
}

TEST(Sigmoids, AreRightToSomeUnitsInTheLastPlace) {
  for (const std::size_t count : {0u, 1u, 15u, 16u, 1001u}) {
    std::vector<float> x(count);
    for (std::size_t i = 0; i < count; ++i) x[i] = (static_cast<float>(i) - 500.0F) / 5.0F;
    std::vector<float> shares = x;
    sigmoids(1.5F, shares);
    for (std::size_t i = 0; i < count; ++i) {
      const double wanted = 1.0 / (1.0 + std::exp(-1.5 * static_cast<double>(x[i])));
      EXPECT_NEAR(shares[i], wanted, 2e-5 * wanted + 1e-37) << x[i];
    }
  }
}

}  // namespace
}  // namespace ingot::evaluation::test
