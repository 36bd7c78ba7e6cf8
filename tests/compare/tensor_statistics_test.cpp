// SPDX-License-Identifier: MIT
#include "ingot/tensor_statistics.hpp"

#include <gmock/gmock.h>

#include <cstring>
#include <vector>

#include "compare/many_parts.hpp"
#include "ingot/quantize.hpp"
#include "support/expect_error.hpp"
#include "support/gguf_builder.hpp"

namespace ingot::test {
namespace {

Bytes model_bytes() {
  const std::vector<float> floats = weights();
  std::vector<std::byte> blocks(floats.size() / 32 * 34);
  EXPECT_THAT(quantize(TensorType::q8_0, floats, columns, blocks), Succeeds());
  return GgufBuilder()
      .pair("general.architecture", "llama")
      .tensor("w", {columns, rows}, TensorType::q8_0, 0)
      .tensor("none", {0}, TensorType::f32, blocks.size())
      .pad_to(32)
      .raw({reinterpret_cast<const char*>(blocks.data()), blocks.size()})
      .pad_to(32)
      .bytes();
}

TEST(TensorStatistics, AreThoseOfTheDecodedNumbers) {
  const Bytes bytes = model_bytes();
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  std::vector<float> floats(columns * rows);
  ASSERT_THAT(model->dequantize_rows(model->tensors()[0], 0, rows, floats), Succeeds());
  const Statistics expected = compute_statistics(floats);
  const auto tensors = all_of(*model);
  const auto found = compute_statistics(*model, tensors, 1);
  ASSERT_THAT(found, Succeeds());
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].count, expected.count);
  EXPECT_EQ((*found)[0].min, expected.min);
  EXPECT_EQ((*found)[0].max, expected.max);
  EXPECT_EQ((*found)[0].zeros, expected.zeros);
  EXPECT_DOUBLE_EQ((*found)[0].mean, expected.mean);
  EXPECT_NEAR((*found)[0].deviation(), expected.deviation(), 1e-9);
  EXPECT_EQ((*found)[1].count, 0u);
}

TEST(TensorStatistics, AreTheSameForAnyThreadsAndSources) {
  const Bytes bytes = model_bytes();
  const auto mapped = Model::open_memory(bytes);
  const auto read = Model::open_source(
      read_through(bytes.size(), [&bytes](std::uint64_t at, std::span<std::byte> destination) {
        std::memcpy(destination.data(), bytes.data() + at, destination.size());
        return true;
      }));
  ASSERT_THAT(mapped, Succeeds());
  ASSERT_THAT(read, Succeeds());
  const auto expected = compute_statistics(*mapped, all_of(*mapped), 1);
  ASSERT_THAT(expected, Succeeds());
  for (const Model* model : {&*mapped, &*read}) {
    for (const unsigned threads : {1u, 3u}) {
      const auto found = compute_statistics(*model, all_of(*model), threads);
      ASSERT_THAT(found, Succeeds());
      EXPECT_EQ((*found)[0].mean, (*expected)[0].mean);
      EXPECT_EQ((*found)[0].squares, (*expected)[0].squares);
    }
  }
}

TEST(TensorStatistics, TellHowFarTheyAreAndCanBeStopped) {
  const Bytes bytes = model_bytes();
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  std::uint64_t last = 0;
  ASSERT_THAT(compute_statistics(*model, all_of(*model), 2,
                                 [&](std::uint64_t done_bytes) {
                                   EXPECT_GT(done_bytes, last);
                                   last = done_bytes;
                                   return true;
                                 }),
              Succeeds());
  EXPECT_EQ(last, model->tensors()[0].size_bytes);
  EXPECT_THAT(compute_statistics(*model, all_of(*model), 2, [](std::uint64_t) { return false; }),
              FailsWith(Errc::interrupted));
}

TEST(TensorStatistics, RefuseWhatCannotBeDecoded) {
  const Bytes bytes = GgufBuilder()
                          .pair("general.architecture", "llama")
                          .tensor("odd", {32}, static_cast<TensorType>(200), 0)
                          .pad_to(32)
                          .raw(std::string(32, 'x'))
                          .bytes();
  const auto model = Model::open_memory(bytes, {.is_lenient = true});
  ASSERT_THAT(model, Succeeds());
  const auto result = compute_statistics(*model, all_of(*model), 1);
  ASSERT_THAT(result, FailsWith(Errc::unsupported_type));
  EXPECT_EQ(result.error().subject, "odd");
}

}  // namespace
}  // namespace ingot::test
