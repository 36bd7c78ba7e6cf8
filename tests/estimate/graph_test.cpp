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

}  // namespace
}  // namespace ingot::estimate
