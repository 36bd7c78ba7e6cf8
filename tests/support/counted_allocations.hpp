// SPDX-License-Identifier: MIT
// Counts what operator new hands out. Include it in one source file of a program.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace ingot::test {

struct Allocations {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

inline std::atomic<std::uint64_t> allocation_count{0};
inline std::atomic<std::uint64_t> allocation_bytes{0};

/// What `function` allocates, freed or not.
template <class Function>
[[nodiscard]] Allocations allocations_of(Function&& function) {
  const std::uint64_t count = allocation_count;
  const std::uint64_t bytes = allocation_bytes;
  function();
  return {allocation_count - count, allocation_bytes - bytes};
}

}  // namespace ingot::test

void* operator new(std::size_t size) {
  ingot::test::allocation_count.fetch_add(1, std::memory_order_relaxed);
  ingot::test::allocation_bytes.fetch_add(size, std::memory_order_relaxed);
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
