// SPDX-License-Identifier: MIT
#include "io/file_descriptor.hpp"

#include <algorithm>
#include <cerrno>

#include "system/files.hpp"

namespace ingot::io {

FileDescriptor::~FileDescriptor() {
  if (is_open()) system::close_file(descriptor_);
}

Failure fail_with_errno(int error_number, const std::string& subject, const char* action) {
  return fail({.code = error_number == ENOMEM ? Errc::out_of_memory : Errc::io_error,
               .subject = subject,
               .detail = std::string("cannot ") + action + ": " + system::words_for(error_number),
               .system_number = error_number});
}

Result<std::uint64_t> size_of_regular(int descriptor, const std::string& subject) {
  system::FileFacts facts;
  if (!system::look_at(descriptor, facts)) return fail_with_errno(errno, subject, "look at it");
  if (facts.kind != system::FileKind::regular) {
    return fail(Errc::not_a_regular_file, subject,
                facts.kind == system::FileKind::folder ? "it is a directory"
                : facts.kind == system::FileKind::fifo ? "it is a FIFO"
                                                       : "it is a device or a socket");
  }
  return facts.size_bytes;
}

Result<RegularFile> open_regular(const std::string& path) {
  if (path.empty()) return fail(Errc::invalid_argument, {}, "the name of the file is empty");
  if (path.find('\0') != std::string::npos) {
    return fail(Errc::invalid_argument, path, "a path cannot hold a NUL byte");
  }
  // Opening a FIFO must not wait.
  FileDescriptor descriptor(system::open_file(path, system::Access::read, system::never_waits));
  if (!descriptor.is_open() && errno == EWOULDBLOCK) {
    // Another process holds a lease for a moment; only regular files have leases.
    descriptor = FileDescriptor(system::open_file(path, system::Access::read));
  }
  if (!descriptor.is_open()) return fail_with_errno(errno, {}, "open it");
  INGOT_TRY(const std::uint64_t size_bytes, size_of_regular(descriptor.get(), {}));
  return RegularFile{std::move(descriptor), size_bytes};
}

Result<void> read_fully(int descriptor, std::uint64_t file_offset,
                        std::span<std::byte> destination) {
  // The system transfers at most 0x7FFFF000 bytes at once (read(2)); so ask for less.
  constexpr std::size_t max_piece_bytes = std::size_t{1} << 30;
  while (!destination.empty()) {
    const std::ptrdiff_t got = system::read_at(
        descriptor, destination.data(), std::min(destination.size(), max_piece_bytes), file_offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_with_errno(errno, {}, "read it");
    if (got == 0) return fail(Errc::truncated, file_offset, {}, "the file has become shorter");
    destination = destination.subspan(static_cast<std::size_t>(got));
    file_offset += static_cast<std::uint64_t>(got);
  }
  return {};
}

Result<void> write_fully(int descriptor, std::uint64_t file_offset,
                         std::span<const std::byte> bytes, const char* action) {
  while (!bytes.empty()) {
    const std::ptrdiff_t written =
        system::write_at(descriptor, bytes.data(), bytes.size(), file_offset);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return fail_with_errno(written < 0 ? errno : ENOSPC, {}, action);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    file_offset += static_cast<std::uint64_t>(written);
  }
  return {};
}

}  // namespace ingot::io
