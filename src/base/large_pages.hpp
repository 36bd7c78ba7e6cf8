// SPDX-License-Identifier: MIT
// Large pages under large tables.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace ingot {

inline constexpr std::size_t large_page_bytes = std::size_t{2} << 20;

/// Asks the system for pages of 2 MiB under memory that will be filled soon, as each page costs a
/// fault. A hint: memory that is never written still takes no space.
inline void prefer_large_pages([[maybe_unused]] void* data,
                               [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t begin =
      (address + large_page_bytes - 1) / large_page_bytes * large_page_bytes;
  const std::uintptr_t end = (address + bytes) / large_page_bytes * large_page_bytes;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

/// Allocates whole large pages for what fills at least half of one.
template <class T>
struct LargePageAllocator {
  using value_type = T;

  LargePageAllocator() = default;
  template <class Other>
  explicit LargePageAllocator(const LargePageAllocator<Other>&) noexcept {}

  [[nodiscard]] T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);  // a vector asks for no more than there can be
    if (bytes < smallest) return std::allocator<T>().allocate(count);
    const std::size_t pages = (bytes + large_page_bytes - 1) / large_page_bytes;
    void* memory = ::operator new (pages* large_page_bytes, std::align_val_t{large_page_bytes});
    prefer_large_pages(memory, pages * large_page_bytes);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    if (count * sizeof(T) < smallest) return std::allocator<T>().deallocate(memory, count);
    ::operator delete (memory, std::align_val_t{large_page_bytes});
  }
  friend bool operator==(const LargePageAllocator&, const LargePageAllocator&) = default;

 private:
  static constexpr std::size_t smallest = large_page_bytes / 2;
};

/// For tables that are read at random: with small pages, nearly every look costs the processor a
/// search for the page, too.
template <class T>
using LargeVector = std::vector<T, LargePageAllocator<T>>;

}  // namespace ingot
