// SPDX-License-Identifier: MIT
#include "estimate/graph_memory.hpp"

#include <gtest/gtest.h>

namespace ingot::estimate {
namespace {

TEST(GraphMemory, TakesTheSmallestHoleThatFitsAndTheLastOfEqualOnes) {
  GraphMemory memory;
  std::vector<GraphMemory::Block> blocks;
  for (const std::uint64_t size : {64u, 32u, 96u, 32u, 64u, 32u})
    blocks.push_back(memory.take(size));
  for (const std::size_t i : {0u, 2u, 4u}) memory.drop(blocks[i]);
  EXPECT_EQ(memory.take(64).offset, blocks[4].offset);
  EXPECT_EQ(memory.take(33).offset, blocks[0].offset);
  EXPECT_EQ(memory.take(32).offset, blocks[2].offset);
  EXPECT_EQ(memory.take(96).offset, 320u);  // the rest of the hole is too small
  EXPECT_EQ(memory.next_peak().value(), 416u);
}

TEST(GraphMemory, JoinsWhatLiesSideBySide) {
  GraphMemory memory;
  const auto first = memory.take(32);
  const auto second = memory.take(32);
  const auto third = memory.take(32);
  const auto last = memory.take(32);
  memory.drop(first);
  memory.drop(third);
  memory.drop(second);
  EXPECT_EQ(memory.take(96).offset, 0u);
  memory.drop({0, 96});
  memory.drop(last);
  EXPECT_EQ(memory.next_peak().value(), 128u);
  EXPECT_EQ(memory.take(160).offset, 0u);
  EXPECT_EQ(memory.next_peak().value(), 160u);
}

TEST(GraphMemory, NeverGoesRound) {
  GraphMemory memory;
  memory.take(64);
  memory.take(~std::uint64_t{0} - 64);
  EXPECT_FALSE(memory.next_peak().value().has_value());
}

}  // namespace
}  // namespace ingot::estimate
