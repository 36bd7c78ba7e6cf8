// SPDX-License-Identifier: MIT
// Owned descriptors and their facts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "ingot/error.hpp"
#include "ingot/export.h"

namespace ingot::io {

/// Owns a descriptor and closes it.
class INGOT_EXPORT FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int descriptor) noexcept : descriptor_(descriptor) {}
  FileDescriptor(FileDescriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor();

  [[nodiscard]] int get() const noexcept { return descriptor_; }
  /// Gives the descriptor away.
  [[nodiscard]] int release() noexcept { return std::exchange(descriptor_, -1); }
  [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }

 private:
  int descriptor_ = -1;
};

/// A regular file, open for reading, and its size when it was opened.
struct RegularFile {
  FileDescriptor descriptor;
  std::uint64_t size_bytes = 0;
};

/// Opens a regular file for reading; Errc::not_a_regular_file for other kinds of files. Never waits
/// for the other end of a FIFO.
[[nodiscard]] Result<RegularFile> open_regular(const std::string& path);

/// The size of an open regular file; Errc::not_a_regular_file for other kinds of files.
[[nodiscard]] Result<std::uint64_t> size_of_regular(int descriptor, const std::string& subject);

/// Fills `destination` from `file_offset` on, with as many system calls as it takes.
[[nodiscard]] INGOT_EXPORT Result<void> read_fully(int descriptor, std::uint64_t file_offset,
                                                   std::span<std::byte> destination);

/// Writes all of `bytes` from `file_offset` on; `action` is for the error message: "write to it".
[[nodiscard]] INGOT_EXPORT Result<void> write_fully(int descriptor, std::uint64_t file_offset,
                                                    std::span<const std::byte> bytes,
                                                    const char* action);

/// Fails with Errc::io_error and the system's words for `error_number`.
[[nodiscard]] INGOT_EXPORT Failure fail_with_errno(int error_number, const std::string& subject,
                                                   const char* action);

}  // namespace ingot::io
