// SPDX-License-Identifier: MIT
#include "quantization/choose_offers.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <random>

#include "support/expect_error.hpp"

namespace ingot::quantization {
namespace {

using test::FailsWith;
using test::Succeeds;
using testing::ElementsAre;

using Offers = std::vector<std::vector<TypeOffer>>;

TypeOffer offer(std::uint64_t bytes, double cost) {
  return {.type = TensorType::q4_0, .size_bytes = bytes, .cost = cost};
}

TEST(ChooseOffers, SpendsWhereAByteSavesMost) {
  const Offers offers = {{offer(10, 100), offer(20, 50)}, {offer(10, 100), offer(20, 10)}};
  EXPECT_THAT(choose_offers(offers, 20)->positions, ElementsAre(0, 0));
  EXPECT_THAT(choose_offers(offers, 30)->positions, ElementsAre(0, 1));
  EXPECT_THAT(choose_offers(offers, 40)->positions, ElementsAre(1, 1));
  EXPECT_THAT(choose_offers(offers, 19), FailsWith(Errc::target_too_small));
}

TEST(ChooseOffers, NeverTakesWhatIsLargerAndWorse) {
  const Offers offers = {{offer(20, 50), offer(10, 100), offer(15, 120), offer(30, 50)}};
  for (std::uint64_t budget = 10; budget < 40; ++budget) {
    EXPECT_THAT(choose_offers(offers, budget)->positions, ElementsAre(budget < 20 ? 1 : 0));
  }
}

TEST(ChooseOffers, GoesOnWithSmallerTensorsWhereALargeStepDoesNotFit) {
  const Offers offers = {{offer(100, 1000), offer(200, 0)}, {offer(10, 10), offer(20, 5)}};
  EXPECT_THAT(choose_offers(offers, 120)->positions, ElementsAre(0, 1));
}

TEST(ChooseOffers, FillsWhatIsLeftWithOffersBesideTheHull) {
  // The middle offer is above the line between its neighbours, and all that fits.
  const Offers offers = {{offer(10, 100), offer(15, 90), offer(20, 0)}};
  EXPECT_THAT(choose_offers(offers, 19)->positions, ElementsAre(1));
}

TEST(ChooseOffers, ExchangesBytesOfTwoTensors) {
  // The first step is the best for a byte, and leaves too little for the larger one, which saves
  // more.
  const Offers offers = {{offer(10, 20), offer(14, 0)}, {offer(10, 100), offer(20, 60)}};
  EXPECT_THAT(choose_offers(offers, 30)->positions, ElementsAre(0, 1));
}

TEST(ChooseOffers, BoundTakesTheLastStepInPart) {
  const Offers offers = {{offer(10, 100), offer(20, 50)}, {offer(10, 100), offer(20, 10)}};
  const auto chosen = choose_offers(offers, 35);
  EXPECT_EQ(chosen->outcome.cost, 110.0);
  EXPECT_EQ(chosen->outcome.bound, 85.0);
  EXPECT_EQ(choose_offers(offers, 100)->outcome.bound, 60.0);
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
      used += offers[i][chosen->positions[i]].size_bytes;
      error += offers[i][chosen->positions[i]].cost;
    }
    EXPECT_LE(used, budget);
    double best = std::numeric_limits<double>::infinity();
    for (int code = 0; code < 1024; ++code) {
      std::uint64_t bytes = 0;
      double sum = 0.0;
      for (std::size_t i = 0; i < offers.size(); ++i) {
        const TypeOffer& taken = offers[i][static_cast<std::size_t>(code >> (2 * i) & 3)];
        bytes += taken.size_bytes;
        sum += taken.cost;
      }
      if (bytes <= budget) best = std::min(best, sum);
    }
    EXPECT_NEAR(error, chosen->outcome.cost, 1e-9);
    EXPECT_LE(chosen->outcome.bound, best + 1e-9);
    // Exchanges of three tensors can be missed; models have hundreds of small steps.
    EXPECT_LE(error, best * 1.3 + 1e-9);
  }
}

}  // namespace
}  // namespace ingot::quantization
