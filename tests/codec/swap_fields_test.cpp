// SPDX-License-Identifier: MIT
#include "codec/blocks/swap_fields.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "ingot/types.hpp"
#include "types/block_layout.hpp"

namespace ingot::test {
namespace {

/// The bytes 0, 1, 2, ... of a block after its fields were reversed, where they moved: "2=3 3=2".
std::string moved_bytes(TensorType type) {
  const std::size_t block_bytes = find_type(type)->block_bytes;
  std::vector<std::uint8_t> block(block_bytes);
  std::iota(block.begin(), block.end(), std::uint8_t{0});
  codec::swap_fields(*find_type(type), std::as_writable_bytes(std::span(block)));
  std::string moved;
  for (std::size_t i = 0; i < block.size(); ++i) {
    if (block[i] != static_cast<std::uint8_t>(i)) {
      moved += std::to_string(i) + "=" + std::to_string(block[i]) + " ";
    }
  }
  return moved;
}

TEST(SwapFields, ReverseEachFieldOfSeveralBytes) {
  EXPECT_EQ(moved_bytes(TensorType::f32), "0=3 1=2 2=1 3=0 ");
  EXPECT_EQ(moved_bytes(TensorType::i64), "0=7 1=6 2=5 3=4 4=3 5=2 6=1 7=0 ");
  EXPECT_EQ(moved_bytes(TensorType::q4_1), "0=1 1=0 2=3 3=2 ");
  EXPECT_EQ(moved_bytes(TensorType::q5_0), "0=1 1=0 2=5 3=4 4=3 5=2 ");
  EXPECT_EQ(moved_bytes(TensorType::q2_k), "80=81 81=80 82=83 83=82 ");
  EXPECT_EQ(moved_bytes(TensorType::q6_k), "208=209 209=208 ");
  EXPECT_EQ(moved_bytes(TensorType::iq4_xs), "0=1 1=0 2=3 3=2 ");
  EXPECT_EQ(moved_bytes(TensorType::iq1_m), "48=49 49=48 50=51 51=50 52=53 53=52 54=55 55=54 ");
}

TEST(SwapFields, BytesStay) {
  for (const TensorType type : {TensorType::i8, TensorType::mxfp4, TensorType::nvfp4}) {
    EXPECT_EQ(moved_bytes(type), "");
  }
}

TEST(SwapFields, LieWithinTheBlock) {
  for (const TensorTypeInfo& info : live_tensor_types) {
    for (const types::BlockField& field : types::fields_of(info.type)) {
      EXPECT_LE(field.end(), info.block_bytes) << info.name;
    }
  }
}

}  // namespace
}  // namespace ingot::test
