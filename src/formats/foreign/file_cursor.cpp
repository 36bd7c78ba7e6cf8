// SPDX-License-Identifier: MIT
#include "formats/foreign/file_cursor.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/byte_order.hpp"

namespace ingot::formats {

Result<void> FileCursor::read(std::span<std::byte> dst, const char* field) {
  if (dst.size() > remaining()) return fail(code_, position_, field, "the file ends too early");
  while (!dst.empty()) {
    if (position_ < begin_ || position_ >= begin_ + count_) INGOT_TRY_VOID(fill());
    const std::size_t from = static_cast<std::size_t>(position_ - begin_);
    const std::size_t piece = std::min(dst.size(), count_ - from);
    std::memcpy(dst.data(), &buffer_[from], piece);
    position_ += piece;
    dst = dst.subspan(piece);
  }
  return {};
}

Result<std::uint32_t> FileCursor::read_u32(const char* field) {
  std::array<std::byte, 4> bytes;
  INGOT_TRY_VOID(read(bytes, field));
  return load_little<std::uint32_t>(bytes.data());
}

Result<float> FileCursor::read_f32(const char* field) {
  INGOT_TRY(const std::uint32_t bits, read_u32(field));
  return std::bit_cast<float>(bits);
}

Result<std::string> FileCursor::read_text(std::size_t length, const char* field) {
  std::string text(length, '\0');
  INGOT_TRY_VOID(read(std::as_writable_bytes(std::span(text)), field));
  return text;
}

Result<void> FileCursor::fill() {
  begin_ = position_;
  count_ = static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size(), remaining()));
  return source_.read(begin_, std::span(buffer_).first(count_));
}

}  // namespace ingot::formats
