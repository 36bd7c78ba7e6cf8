// SPDX-License-Identifier: MIT
// Model::dequantize_rows, from every kind of source and in both byte orders.
#include <gmock/gmock.h>

#include <cstring>
#include <limits>
#include <vector>

#include "ingot/model.hpp"
#include "ingot/quantize.hpp"
#include "support/expect_error.hpp"
#include "support/gguf_builder.hpp"

namespace ingot::test {
namespace {

using testing::ElementsAre;

constexpr std::size_t columns = 64;
constexpr std::size_t rows = 6;  // 3 x 2

std::vector<float> weights() {
  std::vector<float> floats(columns * rows);
  for (std::size_t i = 0; i < floats.size(); ++i) {
    floats[i] = static_cast<float>(static_cast<int>(i % 255) - 127);
  }
  return floats;
}

Bytes model_bytes(Endian byte_order) {
  std::vector<std::byte> blocks(columns * rows / 32 * 34);
  EXPECT_THAT(quantize(TensorType::q8_0, weights(), columns, blocks, {.byte_order = byte_order}),
              Succeeds());
  return GgufBuilder({.version = 3, .byte_order = byte_order})
      .pair("general.architecture", "llama")
      .tensor("w", {columns, 3, 2}, TensorType::q8_0, 0)
      .tensor("empty", {0, 7}, TensorType::f16, 416)
      .pad_to(32)
      .raw({reinterpret_cast<const char*>(blocks.data()), blocks.size()})
      .pad_to(32)
      .bytes();
}

/// Opened through a function: nothing is in memory.
Result<Model> open_unmapped(const Bytes& bytes) {
  return Model::open_source(
      read_through(bytes.size(), [&bytes](std::uint64_t at, std::span<std::byte> destination) {
        std::memcpy(destination.data(), bytes.data() + at, destination.size());
        return true;
      }));
}

void expect_rows(const Model& model, std::uint64_t first_row, std::uint64_t row_count) {
  std::vector<float> floats(row_count * columns);
  ASSERT_THAT(model.dequantize_rows(*model.find_tensor("w"), first_row, row_count, floats),
              Succeeds());
  const std::vector<float> all = weights();
  std::vector<std::byte> blocks(all.size() / 32 * 34);
  std::vector<float> expected(all.size());
  ASSERT_THAT(quantize(TensorType::q8_0, all, columns, blocks), Succeeds());
  ASSERT_THAT(dequantize(TensorType::q8_0, blocks, expected), Succeeds());
  const auto part = std::span(expected).subspan(first_row * columns, row_count * columns);
  EXPECT_TRUE(std::equal(floats.begin(), floats.end(), part.begin(), part.end()));
}

TEST(DequantizeRows, AreThoseOfTheTensor) {
  for (const Endian byte_order : {Endian::little, Endian::big}) {
    const Bytes bytes = model_bytes(byte_order);
    for (const bool is_mapped : {true, false}) {
      const auto model = is_mapped ? Model::open_memory(bytes) : open_unmapped(bytes);
      ASSERT_THAT(model, Succeeds());
      expect_rows(*model, 0, rows);
      expect_rows(*model, 2, 3);
      expect_rows(*model, rows, 0);
      std::vector<float> all(columns * rows);
      ASSERT_THAT(model->dequantize_rows(*model->find_tensor("w"), 0, rows, all), Succeeds());
      EXPECT_EQ(model->dequantize(*model->find_tensor("w")), all);
      EXPECT_EQ(model->dequantize(*model->find_tensor("empty")), std::vector<float>());
    }
  }
}

TEST(DequantizeRows, ThatAreNotThereAreRefused) {
  const Bytes bytes = model_bytes(Endian::little);
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  const TensorInfo& tensor = *model->find_tensor("w");
  std::vector<float> floats(columns);
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_THAT(model->dequantize_rows(tensor, rows, 1, floats), FailsWith(Errc::index_out_of_range));
  EXPECT_THAT(model->dequantize_rows(tensor, most, 1, floats), FailsWith(Errc::index_out_of_range));
  EXPECT_THAT(model->dequantize_rows(tensor, 1, most, floats), FailsWith(Errc::index_out_of_range));
  EXPECT_THAT(model->dequantize_rows(tensor, 0, 2, floats), FailsWith(Errc::size_mismatch));
  EXPECT_THAT(model->dequantize_rows(*model->find_tensor("empty"), 0, 0, {}), Succeeds());
}

TEST(DequantizeRows, OfUnknownTypesAreRefused) {
  const Bytes bytes = GgufBuilder()
                          .pair("general.architecture", "llama")
                          .tensor("w", {32}, static_cast<TensorType>(200), 0)
                          .pad_to(32)
                          .raw(std::string(32, 'x'))
                          .bytes();
  const auto model = Model::open_memory(bytes, {.is_lenient = true});
  ASSERT_THAT(model, Succeeds());
  std::vector<float> floats(32);
  const auto result = model->dequantize_rows(model->tensors()[0], 0, 1, floats);
  ASSERT_THAT(result, FailsWith(Errc::unsupported_type));
  EXPECT_EQ(result.error().subject, "w");
  EXPECT_THAT(model->dequantize(model->tensors()[0]), FailsWith(Errc::unsupported_type));
}

}  // namespace
}  // namespace ingot::test
