// SPDX-License-Identifier: MIT
#include "ingot/tensor_profile.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "compare/many_parts.hpp"
#include "ingot/quantize.hpp"
#include "support/expect_error.hpp"
#include "support/gguf_builder.hpp"

namespace ingot::test {
namespace {

using testing::ElementsAre;

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A model with the tensors `w` (as `type`), `few` (six floats) and `none`.
Bytes model_bytes(TensorType type, const std::vector<float>& few) {
  const std::vector<float> floats = weights();
  const TensorTypeInfo& info = *find_type(type);
  std::vector<std::byte> blocks(floats.size() / info.block_elements * info.block_bytes);
  EXPECT_THAT(quantize(type, floats, columns, blocks), Succeeds());
  return GgufBuilder()
      .pair("general.architecture", "llama")
      .tensor("w", {columns, rows}, type, 0)
      .tensor("few", {few.size()}, TensorType::f32, blocks.size())
      .tensor("none", {0}, TensorType::f32, blocks.size() + 32)
      .pad_to(32)
      .raw(text_of(blocks))
      .raw(text_of(std::as_bytes(std::span(few))))
      .pad_to(32)
      .bytes();
}

const std::vector<float> few_numbers = {-2.0f, -1.0f, 0.0f, 0.5f, 1.0f, 2.0f};

TEST(TensorProfile, CountsEveryNumberOnce) {
  const Bytes bytes = model_bytes(TensorType::f32, few_numbers);
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  const auto profiles = profile_tensors(*model, all_of(*model), {.bin_count = 50});
  ASSERT_THAT(profiles, Succeeds());
  std::vector<float> floats(columns * rows);
  ASSERT_THAT(model->dequantize_rows(model->tensors()[0], 0, rows, floats), Succeeds());
  const Histogram& found = (*profiles)[0].histogram;
  const Statistics statistics = compute_statistics(floats);
  EXPECT_EQ(found.low, statistics.min);
  EXPECT_EQ(found.high, statistics.max);
  ASSERT_EQ(found.counts.size(), 50u);
  EXPECT_EQ(std::accumulate(found.counts.begin(), found.counts.end(), std::uint64_t{0}),
            floats.size());
  // The weights are spread evenly, so each bin has a 50th of them.
  for (const std::uint64_t count : found.counts) {
    EXPECT_NEAR(static_cast<double>(count), static_cast<double>(floats.size()) / 50.0, 400.0);
  }
  EXPECT_EQ((*profiles)[0].statistics.count, statistics.count);
  EXPECT_DOUBLE_EQ((*profiles)[0].statistics.mean, statistics.mean);
  EXPECT_FALSE((*profiles)[0].error.has_value());
}

TEST(TensorProfile, PutsLargeTensorsIntoTheRightBins) {
  // Only these values; the edges of four bins are -1, -0.5, 0, 0.5, 1.
  std::vector<float> floats(8192, -1.0f);
  std::fill(floats.begin() + 1000, floats.begin() + 3000, -0.25f);
  std::fill(floats.begin() + 3000, floats.begin() + 3500, -0.0f);
  std::fill(floats.begin() + 3500, floats.begin() + 4000, 0.0f);
  std::fill(floats.begin() + 4000, floats.begin() + 4004, 0.75f);
  std::fill(floats.begin() + 4004, floats.end(), 1.0f);
  floats[5000] = std::numeric_limits<float>::infinity();
  floats[5001] = std::numeric_limits<float>::quiet_NaN();
  const Bytes bytes = GgufBuilder()
                          .pair("general.architecture", "llama")
                          .tensor("w", {8192}, TensorType::f32, 0)
                          .pad_to(32)
                          .raw(text_of(std::as_bytes(std::span(floats))))
                          .bytes();
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  const auto profiles = profile_tensors(*model, all_of(*model), {.bin_count = 4});
  ASSERT_THAT(profiles, Succeeds());
  EXPECT_THAT((*profiles)[0].histogram.counts, ElementsAre(1000, 2000, 1000, 4190));
  EXPECT_EQ((*profiles)[0].statistics.nans, 1u);
}

TEST(TensorProfile, IsExactForFewNumbersAndHasNoBinsWhereThereAreNone) {
  const Bytes bytes = model_bytes(TensorType::f16, few_numbers);
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  const auto profiles = profile_tensors(*model, all_of(*model), {.bin_count = 4});
  ASSERT_THAT(profiles, Succeeds());
  const Histogram& few = (*profiles)[1].histogram;
  EXPECT_EQ(few.low, -2.0);
  EXPECT_EQ(few.high, 2.0);
  EXPECT_THAT(few.counts, ElementsAre(1, 1, 2, 2));
  EXPECT_TRUE((*profiles)[2].histogram.counts.empty());

  const auto without = profile_tensors(*model, all_of(*model), {.bin_count = 0});
  ASSERT_THAT(without, Succeeds());
  EXPECT_TRUE((*without)[0].histogram.counts.empty());
  EXPECT_EQ((*without)[0].statistics.count, columns * rows);

  const Bytes equal_bytes = model_bytes(TensorType::f16, {3.0f, 3.0f, 3.0f});
  const auto equal = Model::open_memory(equal_bytes);
  ASSERT_THAT(equal, Succeeds());
  const auto of_equal = profile_tensors(*equal, all_of(*equal));
  ASSERT_THAT(of_equal, Succeeds());
  EXPECT_THAT((*of_equal)[1].histogram.counts, ElementsAre(3));
}

TEST(TensorProfile, MeasuresTheErrorAgainstTheReference) {
  const Bytes coarse_bytes = model_bytes(TensorType::q4_0, few_numbers);
  const Bytes fine_bytes = model_bytes(TensorType::f32, {-2.0f, -1.0f, 0.0f, 0.5f, 1.0f});
  const auto coarse = Model::open_memory(coarse_bytes);
  const auto fine = Model::open_memory(fine_bytes);
  ASSERT_THAT(coarse, Succeeds());
  ASSERT_THAT(fine, Succeeds());
  const auto profiles = profile_tensors(*coarse, all_of(*coarse), {.reference = &*fine});
  ASSERT_THAT(profiles, Succeeds());

  std::vector<float> floats(columns * rows);
  ASSERT_THAT(coarse->dequantize_rows(coarse->tensors()[0], 0, rows, floats), Succeeds());
  const std::vector<float> original = weights();
  double squares = 0.0;
  double signal = 0.0;
  double largest = 0.0;
  for (std::size_t i = 0; i < floats.size(); ++i) {
    const double error = static_cast<double>(floats[i]) - static_cast<double>(original[i]);
    squares += error * error;
    signal += static_cast<double>(original[i]) * static_cast<double>(original[i]);
    largest = std::max(largest, std::abs(error));
  }
  ASSERT_TRUE((*profiles)[0].error.has_value());
  const QuantizationError& error = *(*profiles)[0].error;
  EXPECT_EQ(error.count, floats.size());
  EXPECT_NEAR(error.rmse(), std::sqrt(squares / static_cast<double>(floats.size())), 1e-12);
  EXPECT_NEAR(error.sqnr_db(), 10.0 * std::log10(signal / squares), 1e-9);
  EXPECT_EQ(error.largest, largest);
  EXPECT_FALSE((*profiles)[1].error.has_value()) << "the shapes differ";
  ASSERT_TRUE((*profiles)[2].error.has_value());
  EXPECT_EQ((*profiles)[2].error->rmse(), 0.0);
  EXPECT_EQ(find_counterpart(*fine, coarse->tensors()[1]), nullptr);
}

TEST(TensorProfile, IsTheSameForAnyThreadsAndSources) {
  const Bytes bytes = model_bytes(TensorType::q4_0, few_numbers);
  const Bytes fine_bytes = model_bytes(TensorType::f32, few_numbers);
  const auto fine = Model::open_memory(fine_bytes);
  const auto mapped = Model::open_memory(bytes);
  const auto read = Model::open_source(
      read_through(bytes.size(), [&bytes](std::uint64_t at, std::span<std::byte> destination) {
        std::memcpy(destination.data(), bytes.data() + at, destination.size());
        return true;
      }));
  ASSERT_THAT(fine, Succeeds());
  ASSERT_THAT(mapped, Succeeds());
  ASSERT_THAT(read, Succeeds());
  const auto expected =
      profile_tensors(*mapped, all_of(*mapped), {.reference = &*fine, .thread_count = 1});
  ASSERT_THAT(expected, Succeeds());
  for (const Model* model : {&*mapped, &*read}) {
    const auto found =
        profile_tensors(*model, all_of(*model), {.reference = &*fine, .thread_count = 3});
    ASSERT_THAT(found, Succeeds());
    EXPECT_EQ((*found)[0].histogram.counts, (*expected)[0].histogram.counts);
    EXPECT_EQ((*found)[0].statistics.squares, (*expected)[0].statistics.squares);
    EXPECT_EQ((*found)[0].error->squared_error, (*expected)[0].error->squared_error);
  }
}

TEST(TensorProfile, TellsHowFarItIsAndCanBeStopped) {
  const Bytes bytes = model_bytes(TensorType::q4_0, few_numbers);
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  std::uint64_t last = 0;
  const auto note = [&](std::uint64_t done_bytes) {
    EXPECT_GT(done_bytes, last);
    last = done_bytes;
    return true;
  };
  ASSERT_THAT(profile_tensors(*model, all_of(*model), {.reference = &*model}, note), Succeeds());
  EXPECT_EQ(last, 2 * (model->tensors()[0].size_bytes + model->tensors()[1].size_bytes));
  EXPECT_THAT(profile_tensors(*model, all_of(*model), {}, [](std::uint64_t) { return false; }),
              FailsWith(Errc::interrupted));
}

TEST(TensorProfile, RefusesWhatCannotBeDecoded) {
  const Bytes bytes = GgufBuilder()
                          .pair("general.architecture", "llama")
                          .tensor("odd", {32}, static_cast<TensorType>(200), 0)
                          .pad_to(32)
                          .raw(std::string(32, 'x'))
                          .bytes();
  const auto model = Model::open_memory(bytes, {.is_lenient = true});
  ASSERT_THAT(model, Succeeds());
  EXPECT_THAT(profile_tensors(*model, all_of(*model)), FailsWith(Errc::unsupported_type));
  EXPECT_EQ(find_counterpart(*model, model->tensors()[0]), nullptr);
}

TEST(QuantizationError, IsThatOfEachPairWhereverItLies) {
  // Runs with and without an infinity, and a tail: the same as pair by pair.
  std::vector<float> reference(2 * 256 + 13);
  std::vector<float> numbers(reference.size());
  for (std::size_t i = 0; i < reference.size(); ++i) {
    reference[i] = static_cast<float>(i % 7) - 3.0f;
    numbers[i] = reference[i] + static_cast<float>(i % 5) / 4.0f;
  }
  numbers[300] = std::numeric_limits<float>::infinity();
  numbers[524] = std::numeric_limits<float>::quiet_NaN();
  QuantizationError expected;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double error = static_cast<double>(numbers[i]) - static_cast<double>(reference[i]);
    if (!std::isfinite(error)) continue;
    ++expected.count;
    expected.squared_error += error * error;  // small integers over 16: exact in any order
    expected.squared_signal += static_cast<double>(reference[i]) * reference[i];
    expected.largest = std::max(expected.largest, std::abs(error));
  }
  const QuantizationError error = measure_error(reference, numbers);
  EXPECT_EQ(error.count, reference.size() - 2);
  EXPECT_EQ(error.count, expected.count);
  EXPECT_EQ(error.squared_error, expected.squared_error);
  EXPECT_EQ(error.squared_signal, expected.squared_signal);
  EXPECT_EQ(error.largest, expected.largest);
}

TEST(QuantizationError, LeavesOutWhatIsNotFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> reference = {1.0f, infinity, nan, 2.0f, 3.0f};
  const std::vector<float> numbers = {1.5f, infinity, 1.0f, nan, 3.0f};
  const QuantizationError error = measure_error(reference, numbers);
  EXPECT_EQ(error.count, 2u);
  EXPECT_EQ(error.largest, 0.5);
  EXPECT_DOUBLE_EQ(error.rmse(), std::sqrt(0.125));
  EXPECT_DOUBLE_EQ(error.sqnr_db(), 10.0 * std::log10(10.0 / 0.25));
  EXPECT_EQ(measure_error(reference, reference).sqnr_db(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(QuantizationError{}.rmse(), 0.0);
}

}  // namespace
}  // namespace ingot::test
