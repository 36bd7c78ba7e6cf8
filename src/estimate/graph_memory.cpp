// SPDX-License-Identifier: MIT
#include "estimate/graph_memory.hpp"

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
    // Of equal holes the engine takes the last.
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

}  // namespace ingot::estimate
