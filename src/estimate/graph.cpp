// SPDX-License-Identifier: MIT
// Source of the rules: ggml_build_forward_expand and ggml-alloc.c of llama.cpp 0.5.0.
#include "estimate/graph.hpp"

#include <algorithm>
#include <utility>

namespace ingot::estimate {
namespace {

constexpr std::uint64_t alignment = 32;  // of the buffers of the engine's CPU backend

}  // namespace

GraphMemory::Block GraphMemory::take(CheckedNumber bytes) {
  const std::optional<std::uint64_t> whole = (bytes + (alignment - 1)).value();
  const std::optional<std::uint64_t> end = (CheckedNumber(end_) + bytes + alignment).value();
  if (!whole || !end) {
    peak_ = CheckedNumber(UINT64_MAX) + 1;
    return {};
  }
  const std::uint64_t size = *whole / alignment * alignment;
  auto best = holes_.end();
  for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
    // The engine takes the last of equal holes.
    if (hole->size >= size && (best == holes_.end() || hole->size <= best->size)) best = hole;
  }
  Block block{end_, size};
  if (best == holes_.end()) {
    end_ += size;
  } else {
    block.offset = best->offset;
    best->offset += size;
    best->size -= size;
    if (best->size == 0) holes_.erase(best);
  }
  peak_ = max(peak_, block.offset + size);
  return block;
}

void GraphMemory::drop(Block block) {
  if (block.size == 0) return;
  auto next = std::ranges::lower_bound(holes_, block.offset, {}, &Block::offset);
  if (next != holes_.end() && block.offset + block.size == next->offset) {
    block.size += next->size;
    next = holes_.erase(next);
  }
  if (next != holes_.begin() && std::prev(next)->offset + std::prev(next)->size == block.offset) {
    --next;
    block = {next->offset, next->size + block.size};
    next = holes_.erase(next);
  }
  if (block.offset + block.size == end_) {
    end_ = block.offset;
  } else {
    holes_.insert(next, block);
  }
}

CheckedNumber GraphMemory::next_peak() noexcept { return std::exchange(peak_, CheckedNumber()); }

CheckedNumber& GraphPhases::of(Phase phase) noexcept {
  switch (phase) {
    case Phase::attention:
      return attention;
    case Phase::feed_forward:
      return feed_forward;
    case Phase::experts:
      return experts;
    case Phase::state:
      return state;
    case Phase::output:
      break;
  }
  return output;
}

Graph::Tensor Graph::add(CheckedNumber bytes, Sources sources, Kind kind) {
  Node node{.bytes = bytes, .kind = kind, .phase = phase_};
  std::ranges::copy(sources, node.sources.begin());
  nodes_.push_back(node);
  return {static_cast<std::uint32_t>(nodes_.size() - 1), false};
}

Graph::Tensor Graph::input(CheckedNumber bytes) { return add(bytes, {}, Kind::input); }

Graph::Tensor Graph::make(CheckedNumber bytes, Sources sources) {
  return add(bytes, sources, Kind::made);
}

Graph::Tensor Graph::change(CheckedNumber bytes, Sources sources) {
  return add(bytes, sources, Kind::changed);
}

void Graph::store(Sources sources) { expand(add({}, sources, Kind::stored)); }

void Graph::keep(Tensor tensor) { nodes_[tensor.number].is_kept = true; }

void Graph::expand(Tensor tensor) {
  struct Step {
    std::uint32_t number;
    std::size_t next_source;
  };
  std::vector<Step> path;
  const auto enter = [&](std::uint32_t number) {
    Node& node = nodes_[number];
    if (number == 0 || node.is_visited) return;
    node.is_visited = true;
    path.push_back({number, 0});
  };
  enter(tensor.number);
  while (!path.empty()) {
    Step& step = path.back();
    const std::uint32_t number = step.number;
    if (step.next_source < most_sources) {
      enter(nodes_[number].sources[step.next_source++].number);
      continue;
    }
    (nodes_[number].kind == Kind::input ? inputs_ : order_).push_back(number);
    path.pop_back();
  }
}

GraphPhases Graph::lay_out() const {
  GraphMemory memory;
  GraphPhases phases;
  std::vector<GraphMemory::Block> blocks(nodes_.size());
  std::vector<std::uint32_t> readers(nodes_.size());
  for (const std::uint32_t number : order_) {
    for (const Tensor source : nodes_[number].sources) ++readers[source.number];
  }
  for (const std::uint32_t number : inputs_) blocks[number] = memory.take(nodes_[number].bytes);
  for (const std::uint32_t number : order_) {
    const Node& node = nodes_[number];
    const auto old = std::ranges::find_if(node.sources, [&](Tensor source) {
      return node.kind == Kind::changed && source.exists() && !source.is_view &&
             readers[source.number] == 1 && !nodes_[source.number].is_kept &&
             nodes_[source.number].bytes.value() == node.bytes.value();
    });
    if (old != node.sources.end()) {
      blocks[number] = std::exchange(blocks[old->number], {});
    } else if (node.kind != Kind::stored) {
      blocks[number] = memory.take(node.bytes);
    }
    for (const Tensor source : node.sources) {
      const std::uint32_t read = source.number;
      if (read == 0 || --readers[read] > 0 || nodes_[read].is_kept) continue;
      memory.drop(std::exchange(blocks[read], {}));
    }
    phases.of(node.phase) = max(phases.of(node.phase), memory.next_peak());
  }
  return phases;
}

}  // namespace ingot::estimate
