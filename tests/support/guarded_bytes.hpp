// SPDX-License-Identifier: MIT
// Bytes that lie against memory which may not be touched: one byte too far is a crash.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>

namespace ingot::test {

class GuardedBytes {
 public:
  explicit GuardedBytes(std::size_t max_bytes) {
    page_bytes_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    room_bytes_ = (max_bytes + page_bytes_ - 1) / page_bytes_ * page_bytes_;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    void* pages = ::mmap(nullptr, room_bytes_ + page_bytes_, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (pages == MAP_FAILED) std::abort();
    pages_ = static_cast<std::byte*>(pages);
    if (::mprotect(pages_ + room_bytes_, page_bytes_, PROT_NONE) != 0) std::abort();
  }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;
  ~GuardedBytes() { ::munmap(pages_, room_bytes_ + page_bytes_); }

  /// A copy of `bytes` whose end is the end of what may be read.
  [[nodiscard]] std::span<std::byte> hold(std::span<const std::byte> bytes) {
    if (bytes.size() > room_bytes_) std::abort();
    std::byte* begin = pages_ + room_bytes_ - bytes.size();
    if (!bytes.empty()) std::memcpy(begin, bytes.data(), bytes.size());
    return {begin, bytes.size()};
  }

 private:
  std::size_t page_bytes_ = 0;
  std::size_t room_bytes_ = 0;
  std::byte* pages_ = nullptr;
};

}  // namespace ingot::test
