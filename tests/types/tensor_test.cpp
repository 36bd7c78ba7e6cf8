// SPDX-License-Identifier: MIT
#include "ingot/tensor.hpp"

#include <gmock/gmock.h>

#include <vector>

#include "support/expect_error.hpp"

namespace ingot::test {
namespace {

Result<TensorSize> size_of(TensorType type, const std::vector<std::uint64_t>& shape) {
  return size_of_tensor(type, shape);
}

TEST(TensorSize, CountsZeroDimensionsAsOneUntilTheEnd) {
  const std::uint64_t half = std::uint64_t{1} << 32;
  EXPECT_EQ(size_of(TensorType::q6_k, {256, 3})->bytes, 630u);
  EXPECT_EQ(size_of(TensorType::q6_k, {256, 3})->elements, 768u);
  EXPECT_EQ(size_of(TensorType::f32, {0, half})->bytes, 0u);
  EXPECT_THAT(size_of(TensorType::f32, {0, half, half}), FailsWith(Errc::size_overflow));
  EXPECT_THAT(size_of(TensorType::q6_k, {255, 2}), FailsWith(Errc::row_not_whole_blocks));
  constexpr auto unknown = static_cast<TensorType>(99);
  EXPECT_EQ(size_of(unknown, {7, 2})->elements, 14u);
  EXPECT_EQ(size_of(unknown, {7, 2})->bytes, 0u);
}

TEST(LayerName, IsReadFromTheNamesOfLayersAlone) {
  const auto name = parse_layer_name("blk.12.attn_q.weight");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->layer, 12u);
  EXPECT_EQ(name->rest, "attn_q.weight");
  EXPECT_EQ(parse_layer_name("blk.999999999.x")->layer, 999999999u);
  for (const char* other : {"blk.", "blk..x", "blk.1", "blk.x.y", "blk.-1.x", "blk.1x.y",
                            "blk.1000000000.x", "output.weight", "v.blk.1.x"}) {
    EXPECT_FALSE(parse_layer_name(other)) << other;
  }
}

}  // namespace
}  // namespace ingot::test
