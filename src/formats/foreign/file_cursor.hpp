// SPDX-License-Identifier: MIT
// Reads the small fields of a file from front to back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ingot/error.hpp"
#include "ingot/source.hpp"

namespace ingot::formats {

/// A position in a little-endian file, with a small buffer. Fields that the file is too short for
/// fail with the code of the format, the offset, and the name of the field.
class FileCursor {
 public:
  FileCursor(const Source& source, Errc code) : source_(source), code_(code) {}

  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  [[nodiscard]] std::uint64_t remaining() const noexcept {
    return source_.size_bytes() - position_;
  }

  Result<void> read(std::span<std::byte> dst, const char* field);
  Result<std::uint32_t> read_u32(const char* field);
  Result<float> read_f32(const char* field);
  /// `length` bytes, which the caller has bounded.
  Result<std::string> read_text(std::size_t length, const char* field);

  /// @param bytes  at most remaining().
  void skip(std::uint64_t bytes) noexcept { position_ += bytes; }

 private:
  Result<void> fill();

  const Source& source_;
  Errc code_;
  std::uint64_t position_ = 0;
  std::uint64_t begin_ = 0;
  std::size_t count_ = 0;
  std::array<std::byte, 4096> buffer_;  // data between the fields is jumped over
};

}  // namespace ingot::formats
