// SPDX-License-Identifier: MIT
// Counts what operator new hands out, and makes memory run out at a chosen point.
#pragma once

#include <cstdint>

namespace ingot::test {

/// How many allocations of this thread still succeed; negative: all.
extern thread_local int allocations_left;

struct Allocations {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};
/// All that this thread ever did.
extern thread_local Allocations allocations_so_far;

/// The allocations of `function` on this thread, freed or not.
template <class Function>
[[nodiscard]] Allocations allocations_of(Function&& function) {
  const Allocations before = allocations_so_far;
  function();
  return {allocations_so_far.count - before.count, allocations_so_far.bytes - before.bytes};
}

}  // namespace ingot::test
