// SPDX-License-Identifier: MIT
// In a file of its own, so that no compiler sees an allocation and its replacement side by side and
// warns of a mismatch.
#include "capi/scarce_memory.hpp"

#include <cstdlib>
#include <new>

namespace ingot::test {
thread_local int allocations_left = -1;
}

void* operator new(std::size_t size) {
  int& left = ingot::test::allocations_left;
  if (left == 0) throw std::bad_alloc();
  if (left > 0) --left;
  void* memory = std::malloc(size != 0 ? size : 1);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](std::size_t size) { return operator new(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
