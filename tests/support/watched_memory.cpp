// SPDX-License-Identifier: MIT
// In a file of its own, so that no compiler sees an allocation and its replacement side by side and
// warns of a mismatch.
#include "support/watched_memory.hpp"

#include <cstdlib>
#include <new>

namespace ingot::test {
thread_local int allocations_left = -1;
thread_local Allocations allocations_so_far;
}  // namespace ingot::test

void* operator new(std::size_t size) {
  using namespace ingot::test;
  if (allocations_left == 0) throw std::bad_alloc();
  if (allocations_left > 0) --allocations_left;
  ++allocations_so_far.count;
  allocations_so_far.bytes += size;
  void* memory = std::malloc(size != 0 ? size : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
