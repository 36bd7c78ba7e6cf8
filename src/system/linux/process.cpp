// SPDX-License-Identifier: MIT
#include "system/process.hpp"

#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

namespace ingot::system {

std::uint64_t process_number() noexcept { return static_cast<std::uint64_t>(::getpid()); }

std::optional<std::uint64_t> free_memory_bytes() noexcept { return std::nullopt; }

bool fill_randomly(void* bytes, std::size_t size) noexcept {
  return ::getrandom(bytes, size, GRND_NONBLOCK) == static_cast<ssize_t>(size);
}

int open_socket(int family, int kind, int protocol) noexcept {
  return ::socket(family, kind | SOCK_CLOEXEC, protocol);
}

}  // namespace ingot::system
