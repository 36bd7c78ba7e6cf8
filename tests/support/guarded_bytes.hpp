// SPDX-License-Identifier: MIT
// Bytes that lie against memory which may not be touched, on both ends: one byte too far is a
// crash.
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
    void* guard = ::mmap(nullptr, room_bytes_ + 2 * page_bytes_, PROT_NONE, flags, -1, 0);
    if (guard == MAP_FAILED) std::abort();
    pages_ = static_cast<std::byte*>(guard) + page_bytes_;
    if (::mprotect(pages_, room_bytes_, PROT_READ | PROT_WRITE) != 0) std::abort();
  }
  GuardedBytes(const GuardedBytes&) = delete;
  GuardedBytes& operator=(const GuardedBytes&) = delete;
  ~GuardedBytes() { ::munmap(pages_ - page_bytes_, room_bytes_ + 2 * page_bytes_); }

  /// The first `size` bytes, whose begin is the begin of what may be touched.
  [[nodiscard]] std::span<std::byte> front(std::size_t size) {
    if (size > room_bytes_) std::abort();
    return {pages_, size};
  }
  /// The last `size` bytes, whose end is the end of what may be touched.
  [[nodiscard]] std::span<std::byte> back(std::size_t size) {
    if (size > room_bytes_) std::abort();
    return {pages_ + room_bytes_ - size, size};
  }
  /// All of it, what surrounds `front` and `back` included.
  [[nodiscard]] std::span<std::byte> room() { return {pages_, room_bytes_}; }

  /// A copy of `bytes` whose end is the end of what may be read.
  [[nodiscard]] std::span<std::byte> hold(std::span<const std::byte> bytes) {
    const std::span<std::byte> held = back(bytes.size());
    if (!bytes.empty()) std::memcpy(held.data(), bytes.data(), bytes.size());
    return held;
  }

 private:
  std::size_t page_bytes_ = 0;
  std::size_t room_bytes_ = 0;
  std::byte* pages_ = nullptr;
};

}  // namespace ingot::test
