// SPDX-License-Identifier: MIT
// The records of a zip archive of stored members, with 64-bit fields where 32 bits do not do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ingot::formats {

/// Numbers of the archive, little-endian.
class ZipRecord {
 public:
  ZipRecord& u16(std::uint64_t number) { return put(number, 2); }
  ZipRecord& u32(std::uint64_t number) { return put(number, 4); }
  ZipRecord& u64(std::uint64_t number) { return put(number, 8); }
  ZipRecord& text(std::string_view text) {
    bytes_ += text;
    return *this;
  }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::span<const std::byte> span() const { return std::as_bytes(std::span(bytes_)); }

 private:
  ZipRecord& put(std::uint64_t number, int size) {
    for (int i = 0; i < size; ++i, number >>= 8) bytes_.push_back(static_cast<char>(number & 0xFF));
    return *this;
  }

  std::string bytes_;
};

/// A file in the archive.
struct ZipMember {
  std::string name;
  std::uint64_t size_bytes = 0;
  std::uint64_t file_offset = 0;  ///< The offset of its local header.
  std::uint32_t crc = 0;
};

constexpr std::uint64_t zip_crc_position = 14;  // offset in a local header

/// The header before the bytes of a member.
[[nodiscard]] ZipRecord zip_local_header(const ZipMember& member);

/// The entry of a member in the directory.
[[nodiscard]] ZipRecord zip_central_header(const ZipMember& member);

/// The end of an archive whose directory of `members` begins at `begin` and has `size_bytes`.
[[nodiscard]] ZipRecord zip_end(std::uint64_t members, std::uint64_t begin,
                                std::uint64_t size_bytes);

}  // namespace ingot::formats
