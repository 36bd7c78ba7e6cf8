// SPDX-License-Identifier: MIT
#include "system/process.hpp"

#include <fcntl.h>
#include <mach/mach.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

#include "system/memory.hpp"

namespace ingot::system {

std::uint64_t process_number() noexcept { return static_cast<std::uint64_t>(::getpid()); }

std::optional<std::uint64_t> free_memory_bytes() noexcept {
  vm_statistics64 pages{};
  mach_msg_type_number_t size = HOST_VM_INFO64_COUNT;
  if (::host_statistics64(::mach_host_self(), HOST_VM_INFO64,
                          reinterpret_cast<host_info64_t>(&pages), &size) != KERN_SUCCESS) {
    return std::nullopt;
  }
  // Inactive pages are mostly those of files that were read.
  return (std::uint64_t{pages.free_count} + pages.inactive_count + pages.purgeable_count) *
         page_bytes();
}

bool fill_randomly(void* bytes, std::size_t size) noexcept {
  constexpr std::size_t most_of_a_call = 256;
  auto* next = static_cast<std::byte*>(bytes);
  while (size != 0) {
    const std::size_t piece = std::min(size, most_of_a_call);
    if (::getentropy(next, piece) != 0) return false;
    next += piece;
    size -= piece;
  }
  return true;
}

int open_socket(int family, int kind, int protocol) noexcept {
  const int opened = ::socket(family, kind, protocol);
  if (opened >= 0) ::fcntl(opened, F_SETFD, FD_CLOEXEC);
  return opened;
}

}  // namespace ingot::system
