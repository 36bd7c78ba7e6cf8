// SPDX-License-Identifier: MIT
#include "estimate/graph.hpp"

#include <gtest/gtest.h>

namespace ingot::estimate {
namespace {

std::uint64_t peak_of(Graph& graph) { return graph.lay_out().attention.value().value(); }

TEST(Graph, DropsATensorAfterItsLastReader) {
  Graph graph;
  const auto first = graph.make(64, {});
  const auto second = graph.make(64, {first});
  const auto third = graph.make(64, {second});  // in the place of the first
  graph.expand(third);
  EXPECT_EQ(peak_of(graph), 128u);
}

TEST(Graph, ChangesInPlaceWhatNothingElseReads) {
  Graph graph;
  const auto first = graph.make(64, {});
  graph.expand(graph.change(64, {first}));
  EXPECT_EQ(peak_of(graph), 64u);
}

TEST(Graph, TakesTheFirstSourceThatCanBeChanged) {
  Graph graph;
  const auto kept = graph.make(64, {});
  const auto free = graph.make(64, {});
  const auto sum = graph.change(64, {kept, free});
  graph.expand(graph.make(32, {sum, kept}));
  EXPECT_EQ(peak_of(graph), 64u + 64u + 32u);
}

TEST(Graph, ChangesNeitherViewsNorOtherSizesNorWhatIsKept) {
  for (const int which : {0, 1, 2}) {
    Graph graph;
    const auto first = graph.make(64, {});
    if (which == 2) graph.keep(first);
    graph.expand(graph.change(which == 1 ? 32 : 64, {which == 0 ? first.view() : first}));
    EXPECT_EQ(peak_of(graph), which == 1 ? 96u : 128u) << which;
  }
}

TEST(Graph, OrdersBySourcesAndByWhatIsExpanded) {
  Graph graph;
  const auto late = graph.make(1024, {});
  const auto early = graph.make(512, {});
  graph.expand(early);
  const auto small = graph.make(32, {early});
  graph.expand(small);  // `early` is dropped before `late` comes
  graph.expand(graph.make(32, {late, small}));
  EXPECT_EQ(peak_of(graph), 512u + 32u + 1024u);
}

TEST(Graph, PlacesInputsFirstAndOnlyIfTheyAreRead) {
  Graph graph;
  graph.input(4096);
  const auto read = graph.input(64);
  const auto first = graph.make(32, {});
  graph.expand(first);
  graph.expand(graph.make(64, {first, read}));
  EXPECT_EQ(peak_of(graph), 64u + 32u + 64u);
}

TEST(Graph, HoldsWhatIsStoredUntilThen) {
  Graph graph;
  const auto first = graph.make(64, {});
  graph.store({first});
  graph.expand(graph.make(64, {}));
  EXPECT_EQ(peak_of(graph), 64u);
}

TEST(Graph, KnowsThePeakOfEachPhase) {
  Graph graph;
  const auto first = graph.make(64, {});
  graph.begin(Phase::experts);
  const auto second = graph.make(256, {first});
  graph.begin(Phase::output);
  graph.expand(graph.make(32, {second}));
  const GraphPhases phases = graph.lay_out();
  EXPECT_EQ(phases.attention.value(), 64u);
  EXPECT_EQ(phases.experts.value(), 320u);
  EXPECT_EQ(phases.output.value(), 32u);
  EXPECT_EQ(phases.state.value(), 0u);
}

TEST(Graph, NeverGoesRound) {
  Graph graph;
  const auto first = graph.make(CheckedNumber(~std::uint64_t{0}) + 1, {});
  graph.expand(graph.change(64, {first}));
  EXPECT_FALSE(graph.lay_out().attention.value().has_value());
}

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
