// SPDX-License-Identifier: MIT
// Large pages under large tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "system/memory.hpp"

namespace ingot {

inline constexpr std::size_t large_page_bytes = std::size_t{2} << 20;

/// Asks the system for pages of 2 MiB under memory that will be filled soon, as each page costs a
/// fault. A hint: memory that is never written still takes no space.
inline void prefer_large_pages(void* data, std::size_t bytes) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t begin =
      (address + large_page_bytes - 1) / large_page_bytes * large_page_bytes;
  const std::uintptr_t end = (address + bytes) / large_page_bytes * large_page_bytes;
  if (begin < end) system::prefer_large_pages(reinterpret_cast<void*>(begin), end - begin);
}

/// Allocates whole large pages for tables that fill at least three quarters of them.
template <class T>
struct LargePageAllocator {
  using value_type = T;

  LargePageAllocator() = default;
  template <class Other>
  explicit LargePageAllocator(const LargePageAllocator<Other>&) noexcept {}

  [[nodiscard]] T* allocate(std::size_t count) {
    const std::size_t bytes = page_bytes_for(count);
    if (bytes == 0) return std::allocator<T>().allocate(count);
    void* memory = ::operator new (bytes, std::align_val_t{large_page_bytes});
    prefer_large_pages(memory, bytes);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    if (page_bytes_for(count) == 0) return std::allocator<T>().deallocate(memory, count);
    ::operator delete (memory, std::align_val_t{large_page_bytes});
  }
  friend bool operator==(const LargePageAllocator&, const LargePageAllocator&) = default;

 private:
  /// The size of the large pages for a table, rounded up; 0 if too much of them would stay empty. A
  /// vector asks for no more elements than can exist.
  [[nodiscard]] static std::size_t page_bytes_for(std::size_t count) noexcept {
    if (!system::has_large_pages) return 0;
    const std::size_t bytes = count * sizeof(T);
    const std::size_t rounded =
        (bytes + large_page_bytes - 1) / large_page_bytes * large_page_bytes;
    return rounded - bytes <= rounded / 4 ? rounded : 0;
  }
};

/// A vector for tables that are read at random. With small pages, nearly every read costs the
/// processor a search for the page as well.
template <class T>
using LargeVector = std::vector<T, LargePageAllocator<T>>;

}  // namespace ingot
