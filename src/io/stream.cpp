// SPDX-License-Identifier: MIT
#include "io/stream.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "io/file_descriptor.hpp"

namespace ingot::io {

bool is_stream(int descriptor) noexcept {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 && !S_ISDIR(status.st_mode);
}

Result<std::size_t> read_stream(int descriptor, std::span<std::byte> destination) {
  std::size_t filled = 0;
  while (filled != destination.size()) {
    const ssize_t got =
        ::read(descriptor, destination.data() + filled, destination.size() - filled);
    if (got == 0) break;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      pollfd readable{descriptor, POLLIN, 0};  // another process made the pipe non-blocking
      if (::poll(&readable, 1, -1) >= 0 || errno == EINTR) continue;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_with_errno(errno, {}, "read it");
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

Result<std::uint64_t> drain_stream(int descriptor) {
  constexpr std::size_t piece_bytes = std::size_t{1} << 20;
  const auto piece = std::make_unique_for_overwrite<std::byte[]>(piece_bytes);
  std::uint64_t drained = 0;
  for (;;) {
    INGOT_TRY(const std::size_t got, read_stream(descriptor, {piece.get(), piece_bytes}));
    drained += got;
    if (got != piece_bytes) return drained;
  }
}

}  // namespace ingot::io
