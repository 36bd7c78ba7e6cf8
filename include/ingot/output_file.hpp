// SPDX-License-Identifier: MIT
// Write a file that appears complete or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "ingot/error.hpp"
#include "ingot/export.h"

namespace ingot {

namespace io {
class AtomicFile;
}

/// A new file beside its final place. Until `commit` the path is as it was, with or without a file;
/// a file that is not committed is removed. Where the system supports it the file has no name at
/// all until then, so that even a kill leaves nothing behind. Not thread-safe.
class INGOT_EXPORT OutputFile {
 public:
  /// Creates a file. Errc::already_exists if there is a file at `path` and it may not be replaced;
  /// Errc::not_a_regular_file if there is something else; Errc::io_error.
  [[nodiscard]] static Result<OutputFile> create(const std::string& path, bool may_replace);

  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) noexcept;
  ~OutputFile();

  /// Claims disk space, so that a disk that is too full is noticed before the work.
  [[nodiscard]] Result<void> reserve(std::uint64_t size_bytes);

  /// Appends bytes.
  [[nodiscard]] Result<void> write(std::span<const std::byte> bytes);

  /// Replaces bytes that were all written before, such as a checksum in a header.
  /// Errc::invalid_argument if they were not written yet.
  [[nodiscard]] Result<void> overwrite(std::uint64_t file_offset, std::span<const std::byte> bytes);

  /// Flushes everything to the disk, and names nothing yet: for files that are to appear together.
  [[nodiscard]] Result<void> sync();

  /// Flushes everything to the disk and gives the file its name, atomically. The last call.
  [[nodiscard]] Result<void> commit();

 private:
  friend class ModelWriter;
  friend class OutputSet;
  explicit OutputFile(std::unique_ptr<io::AtomicFile> file) noexcept;
  std::unique_ptr<io::AtomicFile> file_;
};

}  // namespace ingot
