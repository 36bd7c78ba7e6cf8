// SPDX-License-Identifier: MIT
#include "io/stream.hpp"

#include <cerrno>
#include <memory>

#include "io/file_descriptor.hpp"
#include "system/files.hpp"

namespace ingot::io {

bool is_stream(int descriptor) noexcept {
  system::FileFacts facts;
  return system::look_at(descriptor, facts) && facts.kind != system::FileKind::folder;
}

Result<std::size_t> read_stream(int descriptor, std::span<std::byte> destination) {
  std::size_t filled = 0;
  while (filled != destination.size()) {
    const std::ptrdiff_t got =
        system::read_next(descriptor, destination.data() + filled, destination.size() - filled);
    if (got == 0) break;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      // Another process made the pipe non-blocking.
      if (system::wait_for_bytes(descriptor)) continue;
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
