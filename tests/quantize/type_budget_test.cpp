// SPDX-License-Identifier: MIT
#include "quantize/type_budget.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <random>

#include "support/expect_error.hpp"

namespace ingot::convert {
namespace {

using test::FailsWith;
using test::Succeeds;
using testing::ElementsAre;

using Offers = std::vector<std::vector<TypeOffer>>;

TypeOffer offer(std::uint64_t bytes, double error) {
  return {.type = TensorType::q4_0, .size_bytes = bytes, .error = error};
}

TEST(ChooseOffers, SpendsWhereAByteSavesMost) {
  const Offers offers = {{offer(10, 100), offer(20, 50)}, {offer(10, 100), offer(20, 10)}};
  EXPECT_THAT(*choose_offers(offers, 20), ElementsAre(0, 0));
  EXPECT_THAT(*choose_offers(offers, 30), ElementsAre(0, 1));
  EXPECT_THAT(*choose_offers(offers, 40), ElementsAre(1, 1));
  EXPECT_THAT(choose_offers(offers, 19), FailsWith(Errc::target_too_small));
}

TEST(ChooseOffers, NeverTakesWhatIsLargerAndWorse) {
  const Offers offers = {{offer(20, 50), offer(10, 100), offer(15, 120), offer(30, 50)}};
  for (std::uint64_t budget = 10; budget < 40; ++budget) {
    EXPECT_THAT(*choose_offers(offers, budget), ElementsAre(budget < 20 ? 1 : 0));
  }
}

TEST(ChooseOffers, GoesOnWithSmallerTensorsWhereALargeStepDoesNotFit) {
  const Offers offers = {{offer(100, 1000), offer(200, 0)}, {offer(10, 10), offer(20, 5)}};
  EXPECT_THAT(*choose_offers(offers, 120), ElementsAre(0, 1));
}

TEST(ChooseOffers, IsNearTheBestOfAllChoices) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    Offers offers(5);
    std::uint64_t least = 0;
    for (auto& of_tensor : offers) {
      double error = 1000.0;
      std::uint64_t bytes = 5 + random() % 5;
      least += bytes;
      for (int i = 0; i < 4; ++i) {
        of_tensor.push_back(offer(bytes, error));
        bytes += 1 + random() % 3;
        error *= 0.2 + 0.6 * static_cast<double>(random() % 100) / 100.0;
      }
    }
    const std::uint64_t budget = least + random() % 20;
    const auto chosen = choose_offers(offers, budget);
    ASSERT_THAT(chosen, Succeeds());
    std::uint64_t used = 0;
    double error = 0.0;
    for (std::size_t i = 0; i < offers.size(); ++i) {
      used += offers[i][(*chosen)[i]].size_bytes;
      error += offers[i][(*chosen)[i]].error;
    }
    EXPECT_LE(used, budget);
    double best = std::numeric_limits<double>::infinity();
    for (int code = 0; code < 1024; ++code) {
      std::uint64_t bytes = 0;
      double sum = 0.0;
      for (std::size_t i = 0; i < offers.size(); ++i) {
        const TypeOffer& taken = offers[i][static_cast<std::size_t>(code >> (2 * i) & 3)];
        bytes += taken.size_bytes;
        sum += taken.error;
      }
      if (bytes <= budget) best = std::min(best, sum);
    }
    // A step too large for what is left can be missed; models have hundreds of small steps.
    EXPECT_LE(error, best * 1.6 + 1e-9);
  }
}

}  // namespace
}  // namespace ingot::convert
