// SPDX-License-Identifier: MIT
#include "system/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace ingot::system {
namespace {

void* writable(const std::byte* address) noexcept { return const_cast<std::byte*>(address); }

}  // namespace

std::size_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

void prefer_large_pages([[maybe_unused]] void* begin, [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  ::madvise(begin, bytes, MADV_HUGEPAGE);
#endif
}

const std::byte* map_file(int descriptor, std::size_t bytes) noexcept {
  void* const address = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  return address == MAP_FAILED ? nullptr : static_cast<const std::byte*>(address);
}

void unmap(const std::byte* address, std::size_t bytes) noexcept {
  ::munmap(writable(address), bytes);
}

void prefetch_pages(const std::byte* begin, std::size_t bytes) noexcept {
  ::madvise(writable(begin), bytes, MADV_WILLNEED);
}

void release_pages(const std::byte* begin, std::size_t bytes) noexcept {
  ::madvise(writable(begin), bytes, MADV_DONTNEED);
}

std::byte* reserve_addresses(std::size_t bytes) noexcept {
  void* const address =
      ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return address == MAP_FAILED ? nullptr : static_cast<std::byte*>(address);
}

bool map_part(std::byte* to, std::size_t bytes, int descriptor,
              std::uint64_t file_offset) noexcept {
  return ::mmap(to, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, descriptor,
                static_cast<off_t>(file_offset)) != MAP_FAILED;
}

bool set_writable(std::byte* begin, std::size_t bytes, bool is_writable) noexcept {
  return ::mprotect(begin, bytes, is_writable ? PROT_READ | PROT_WRITE : PROT_READ) == 0;
}

}  // namespace ingot::system
