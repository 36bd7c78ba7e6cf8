// SPDX-License-Identifier: MIT
#include "ingot/diff.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "ingot/quantize.hpp"
#include "support/expect_error.hpp"
#include "support/sample_files.hpp"

namespace ingot::test {
namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
const DiffOptions header_only{.with_data = false};
constexpr float infinite = std::numeric_limits<float>::infinity();

std::string_view view_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// A model of one tensor "w".
Bytes model_of(TensorType type, std::uint64_t elements, std::span<const std::byte> data) {
  return GgufBuilder().tensor("w", {elements}, type, 0).pad_to(32).raw(view_of(data)).bytes();
}
Bytes model_of(const std::vector<float>& floats) {
  return model_of(TensorType::f32, floats.size(), std::as_bytes(std::span(floats)));
}

Result<WeightDistance> distance_of(const Bytes& bytes_a, const Bytes& bytes_b,
                                   unsigned threads = 2) {
  INGOT_TRY(const Model a, Model::open_memory(bytes_a));
  INGOT_TRY(const Model b, Model::open_memory(bytes_b));
  INGOT_TRY(const auto distances, measure_distances(a, b, find_pairs(a, b), threads));
  return distances.at(0);
}

TEST(Diff, FindsNoneWhereOnlyTheFormatDiffers) {
  const Bytes old = file_of_everything(v1);
  // The file has the same values in another version.
  GgufBuilder file(v3);
  file.pair("general.architecture", "llama");
  file.pair("general.alignment", std::uint32_t{16});
  add_all_values(file, v1);
  file.tensor("early", {32}, TensorType::q4_0, 0);
  file.tensor("late", {4, 3}, TensorType::f32, 48);
  file.tensor("none", {0, 7}, TensorType::f16, 48);
  file.tensor("after.gap", {2, 1, 2, 1}, TensorType::bf16, 144);
  file.tensor("one", {}, TensorType::f64, 160);
  file.tensor("", {3}, TensorType::i8, 176);
  const Bytes now = file.pad_to(16).data(192).bytes();
  const auto a = Model::open_memory(old);
  const auto b = Model::open_memory(now);
  ASSERT_THAT(a, Succeeds());
  ASSERT_THAT(b, Succeeds());
  const ModelDifference difference = *find_differences(*a, *b, header_only);
  EXPECT_TRUE(difference.keys.empty());
  EXPECT_TRUE(difference.tensors.empty());
  EXPECT_FALSE(difference.has_other_key_order);
  EXPECT_TRUE(difference.has_other_tensor_order);
}

TEST(Diff, FindsNoneWhereOnlyATrailingNulIsMore) {
  // The text ends in the NUL that old writers counted; readers strip it.
  const auto with = [](std::string_view word) {
    GgufBuilder file(v2);
    file.array_key("list", ValueType::array, 1).array(ValueType::string, 2);
    return file.text(word).text(word).pair("number", 3).pair("word", word).bytes();
  };
  const Bytes bytes_a = with(std::string_view("a\0", 2));
  const Bytes bytes_b = with("a");
  const Bytes bytes_c = with("b");
  const auto a = Model::open_memory(bytes_a);
  const auto b = Model::open_memory(bytes_b);
  const auto c = Model::open_memory(bytes_c);
  ASSERT_TRUE(a && b && c);
  EXPECT_TRUE(find_differences(*a, *b)->keys.empty());
  EXPECT_TRUE(find_differences(*b, *a)->keys.empty());
  EXPECT_EQ(find_differences(*a, *c)->keys.size(), 2u);
}

TEST(Diff, NamesWhatDiffers) {
  const Bytes bytes_a = GgufBuilder()
                            .pair("same", std::uint32_t{1})
                            .pair("type", std::uint32_t{1})
                            .pair("value", "a")
                            .array_pair("array", {1.0f, 2.0f})
                            .pair("old", true)
                            .pair("split.count", std::uint16_t{0})
                            .tensor("same", {8}, TensorType::f32, 0)
                            .tensor("shape", {8, 2}, TensorType::f32, 32)
                            .tensor("type", {2}, TensorType::f32, 96)
                            .tensor("old", {2}, TensorType::f32, 128)
                            .pad_to(32)
                            .data(160)
                            .bytes();
  const Bytes bytes_b = GgufBuilder()
                            .pair("value", "b")
                            .pair("new", std::int8_t{1})
                            .pair("type", std::uint64_t{1})
                            .pair("same", std::uint32_t{1})
                            .array_pair("array", {1.0f, 2.5f})
                            .tensor("same", {8}, TensorType::f32, 0)
                            .tensor("shape", {2, 8}, TensorType::f32, 32)
                            .tensor("type", {2}, TensorType::f16, 96)
                            .tensor("new", {2}, TensorType::f32, 128)
                            .pad_to(32)
                            .data(160)
                            .bytes();
  const auto a = Model::open_memory(bytes_a);
  const auto b = Model::open_memory(bytes_b);
  ASSERT_THAT(a, Succeeds());
  ASSERT_THAT(b, Succeeds());
  const ModelDifference difference = *find_differences(*a, *b);
  std::vector<std::string> keys;
  for (const KeyDifference& key : difference.keys) {
    keys.push_back(std::string(key.a ? "a" : "") + (key.b ? "b " : " ") + std::string(key.key));
  }
  EXPECT_THAT(keys, testing::ElementsAre("ab type", "ab value", "ab array", "a old", "b new"));
  EXPECT_TRUE(difference.has_other_key_order);
  std::vector<std::string> tensors;
  for (const TensorDifference& tensor : difference.tensors) {
    tensors.push_back(std::string(tensor.a ? "a" : "") + (tensor.b ? "b " : " ") +
                      std::string(tensor.name));
  }
  EXPECT_THAT(tensors, testing::ElementsAre("ab shape", "ab type", "a old", "b new"));
  EXPECT_FALSE(difference.has_other_tensor_order);
  const auto pairs = find_pairs(*a, *b);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[1].a->name, "type");
}

/// The difference in the stored bytes of two models; "w" is their tensor.
Result<ModelDifference> difference_of(const Bytes& bytes_a, const Bytes& bytes_b,
                                      const DiffOptions& options = {}) {
  INGOT_TRY(const Model a, Model::open_memory(bytes_a));
  INGOT_TRY(const Model b, Model::open_memory(bytes_b));
  INGOT_TRY(ModelDifference difference, find_differences(a, b, options));
  for (DataDifference& data : difference.data) data.a = data.b = nullptr;  // gone with the models
  return difference;
}

TEST(StoredBytes, AreComparedUnlessTheyAreLeftOut) {
  constexpr std::size_t count = 3'000'000;  // several parts
  std::vector<float> floats(count, 1.0f);
  const Bytes bytes_a = model_of(floats);
  const auto same = difference_of(bytes_a, bytes_a);
  ASSERT_THAT(same, Succeeds());
  EXPECT_TRUE(same->is_same());
  EXPECT_TRUE(same->has_data);
  EXPECT_EQ(same->compared_tensors, 1u);
  floats[count - 1] = 3.0f;  // 40 40 00 00 instead of 3f 80 00 00, little-endian
  floats[2'000'000] = 3.0f;
  const Bytes bytes_b = model_of(floats);
  for (const unsigned threads : {1u, 3u}) {
    const auto other = difference_of(bytes_a, bytes_b, {.thread_count = threads});
    ASSERT_THAT(other, Succeeds());
    EXPECT_FALSE(other->is_same());
    ASSERT_EQ(other->data.size(), 1u);
    EXPECT_EQ(other->data[0].first_difference, 8'000'002u);
  }
  const auto skipped = difference_of(bytes_a, bytes_b, header_only);
  ASSERT_THAT(skipped, Succeeds());
  EXPECT_TRUE(skipped->is_same());
  EXPECT_FALSE(skipped->has_data);
}

TEST(StoredBytes, DifferWhereTheWeightsAreTheSame) {
  const auto zeros = difference_of(model_of({0.0f}), model_of({-0.0f}));
  ASSERT_THAT(zeros, Succeeds());
  EXPECT_FALSE(zeros->is_same());
}

TEST(StoredBytes, OfTensorsOfOtherTypesAreNotCompared) {
  const Bytes bytes_a = model_of({1.0f});
  const auto found = difference_of(bytes_a, model_of(TensorType::i32, 1, Bytes(4)));
  ASSERT_THAT(found, Succeeds());
  EXPECT_EQ(found->tensors.size(), 1u);
  EXPECT_TRUE(found->data.empty());
  EXPECT_EQ(found->compared_tensors, 0u);
}

TEST(StoredBytes, AreTheSameInEitherByteOrder) {
  std::vector<float> floats(10'000);
  for (std::size_t i = 0; i < floats.size(); ++i) floats[i] = static_cast<float>(i);
  Bytes blocks(floats.size() * 2);
  ASSERT_THAT(quantize(TensorType::f16, floats, floats.size(), blocks), Succeeds());
  const Bytes bytes_a = model_of(TensorType::f16, floats.size(), blocks);
  ASSERT_THAT(swap_byte_order(TensorType::f16, blocks), Succeeds());
  const auto big = [&] {
    return GgufBuilder(v3_big)
        .tensor("w", {floats.size()}, TensorType::f16, 0)
        .pad_to(32)
        .raw(view_of(blocks))
        .bytes();
  };
  const auto same = difference_of(bytes_a, big());
  ASSERT_THAT(same, Succeeds());
  EXPECT_TRUE(same->is_same());
  blocks[7001] = ~blocks[7001];
  const auto other = difference_of(bytes_a, big());
  ASSERT_THAT(other, Succeeds());
  ASSERT_EQ(other->data.size(), 1u);
  EXPECT_EQ(other->data[0].first_difference, 7000u);
}

TEST(StoredBytes, StopWhenAsked) {
  const Bytes bytes = model_of({1.0f});
  EXPECT_THAT(difference_of(bytes, bytes, {.progress = [](std::uint64_t) { return false; }}),
              FailsWith(Errc::interrupted));
}

TEST(WeightDistance, IsThatOfTheNumbers) {
  const auto distance =
      distance_of(model_of({1.0f, 2.0f, -3.0f, 0.0f, not_a_number, 5.0f, infinite}),
                  model_of({1.5f, 2.0f, -1.0f, -0.0f, not_a_number, not_a_number, infinite}));
  ASSERT_THAT(distance, Succeeds());
  EXPECT_EQ(distance->differing, 3u);
  EXPECT_EQ(distance->error.count, 4u);
  EXPECT_DOUBLE_EQ(distance->error.largest, 2.0);
  EXPECT_DOUBLE_EQ(distance->error.rmse(), std::sqrt(4.25 / 4));
  EXPECT_DOUBLE_EQ(distance->error.sqnr_db(), 10 * std::log10(14.0 / 4.25));
  EXPECT_NEAR(distance->cosine(), 8.5 / std::sqrt(14.0 * 7.25), 1e-12);
}

TEST(WeightDistance, OfTheSameBytesIsNone) {
  const auto distance = distance_of(model_of({1.0f, not_a_number}), model_of({1.0f, not_a_number}));
  ASSERT_THAT(distance, Succeeds());
  EXPECT_EQ(distance->differing, 0u);
  EXPECT_EQ(distance->cosine(), 1.0);
}

TEST(WeightDistance, KnowsNoDirectionOfZero) {
  const auto distance = distance_of(model_of({0.0f, 0.0f}), model_of({0.0f, 2.0f}));
  ASSERT_THAT(distance, Succeeds());
  EXPECT_EQ(distance->cosine(), 0.0);
}

TEST(WeightDistance, IsTheSameForAnyThreadsAndSources) {
  constexpr std::size_t count = 300'032;
  std::vector<float> floats(count);
  for (std::size_t i = 0; i < count; ++i) {
    floats[i] = static_cast<float>(i * 7919 % 10007) / 5000.0f - 1.0f;
  }
  std::vector<std::byte> blocks(count / 32 * 34);
  ASSERT_THAT(quantize(TensorType::q8_0, floats, count, blocks), Succeeds());
  const Bytes bytes_a = model_of(floats);
  const Bytes bytes_b = model_of(TensorType::q8_0, count, blocks);
  const auto expected = distance_of(bytes_a, bytes_b, 1);
  ASSERT_THAT(expected, Succeeds());
  EXPECT_GT(expected->error.sqnr_db(), 40.0);
  EXPECT_LT(expected->error.sqnr_db(), 60.0);
  const auto a = Model::open_source(
      read_through(bytes_a.size(), [&](std::uint64_t at, std::span<std::byte> destination) {
        std::memcpy(destination.data(), bytes_a.data() + at, destination.size());
        return true;
      }));
  const auto b = Model::open_memory(bytes_b);
  for (const unsigned threads : {2u, 5u}) {
    const auto found = measure_distances(*a, *b, find_pairs(*a, *b), threads);
    ASSERT_THAT(found, Succeeds());
    EXPECT_EQ(found->front().error.squared_error, expected->error.squared_error);
    EXPECT_EQ(found->front().squared_b, expected->squared_b);
    EXPECT_EQ(found->front().differing, expected->differing);
  }
}

TEST(WeightDistance, TellsHowFarItIsAndStops) {
  std::vector<float> floats(1'000'000, 1.0f);
  const Bytes bytes_a = model_of(floats);
  floats.back() = 2.0f;  // all but the last part is the same
  const Bytes bytes_b = model_of(floats);
  const auto a = Model::open_memory(bytes_a);
  const auto b = Model::open_memory(bytes_b);
  std::uint64_t last = 0;
  const auto watch = [&](std::uint64_t done) {
    EXPECT_GE(done, last);
    last = done;
    return true;
  };
  ASSERT_THAT(measure_distances(*a, *b, find_pairs(*a, *b), 2, watch), Succeeds());
  EXPECT_NEAR(static_cast<double>(last), 8e6, 100);
  EXPECT_THAT(measure_distances(*a, *b, find_pairs(*a, *b), 2, [](std::uint64_t) { return false; }),
              FailsWith(Errc::interrupted));
}

TEST(WeightDistance, RefusesPairsOfOtherShapes) {
  const Bytes bytes_a = model_of({1.0f});
  const Bytes bytes_b = model_of({1.0f, 2.0f});
  const auto a = Model::open_memory(bytes_a);
  const auto b = Model::open_memory(bytes_b);
  const std::vector<TensorPair> pairs = {{&a->tensors()[0], &b->tensors()[0]}};
  EXPECT_THAT(measure_distances(*a, *b, pairs), FailsWith(Errc::size_mismatch));
}

}  // namespace
}  // namespace ingot::test
