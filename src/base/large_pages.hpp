// SPDX-License-Identifier: MIT
// Large pages under large tables.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ingot {

/// Asks the system for pages of 2 MiB under memory that will be filled soon, as each page costs a
/// fault. A hint: memory that is never written still takes no space.
inline void prefer_large_pages([[maybe_unused]] void* data,
                               [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t page_bytes = std::uintptr_t{2} << 20;
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t begin = (address + page_bytes - 1) / page_bytes * page_bytes;
  const std::uintptr_t end = (address + bytes) / page_bytes * page_bytes;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#endif
}

/// A table of `count` default values, on large pages where it is large.
template <class T>
[[nodiscard]] std::vector<T> make_large_table(std::size_t count) {
  std::vector<T> table;
  table.reserve(count);
  prefer_large_pages(table.data(), count * sizeof(T));
  table.resize(count);
  return table;
}

}  // namespace ingot
