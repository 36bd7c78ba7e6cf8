// SPDX-License-Identifier: MIT
#include "formats/npz/zip_records.hpp"

#include <algorithm>

namespace ingot::formats {
namespace {

// The numbers of this file are those of APPNOTE.TXT of PKWARE, version 6.3.10.

constexpr std::uint64_t most_in_32_bits = 0xFFFFFFFF;
constexpr std::uint16_t utf8_names = 1 << 11;
constexpr std::uint16_t version_zip64 = 45;
constexpr std::uint16_t first_day = 1 << 5 | 1;  // 1980-01-01: the same model, the same bytes

bool is_large(const ZipMember& member) { return member.size_bytes >= most_in_32_bits; }
bool is_far(const ZipMember& member) { return member.file_offset >= most_in_32_bits; }

}  // namespace

ZipRecord zip_local_header(const ZipMember& member) {
  ZipRecord record;
  const std::uint64_t size = is_large(member) ? most_in_32_bits : member.size_bytes;
  record.u32(0x04034B50).u16(version_zip64).u16(utf8_names).u16(0).u16(0).u16(first_day);
  record.u32(member.crc).u32(size).u32(size);
  record.u16(member.name.size()).u16(is_large(member) ? 20 : 0).text(member.name);
  if (is_large(member)) record.u16(1).u16(16).u64(member.size_bytes).u64(member.size_bytes);
  return record;
}

ZipRecord zip_central_header(const ZipMember& member) {
  ZipRecord extra;
  if (is_large(member)) extra.u64(member.size_bytes).u64(member.size_bytes);
  if (is_far(member)) extra.u64(member.file_offset);
  ZipRecord field;
  if (!extra.bytes().empty()) field.u16(1).u16(extra.bytes().size()).text(extra.bytes());
  const std::uint64_t size = is_large(member) ? most_in_32_bits : member.size_bytes;
  ZipRecord record;
  record.u32(0x02014B50).u16(version_zip64).u16(version_zip64).u16(utf8_names).u16(0).u16(0);
  record.u16(first_day).u32(member.crc).u32(size).u32(size).u16(member.name.size());
  record.u16(field.bytes().size()).u16(0).u16(0).u16(0).u32(0);
  record.u32(is_far(member) ? most_in_32_bits : member.file_offset);
  return record.text(member.name).text(field.bytes());
}

ZipRecord zip_end(std::uint64_t members, std::uint64_t begin, std::uint64_t size_bytes) {
  constexpr std::uint64_t most_in_16_bits = 0xFFFF;
  ZipRecord record;
  if (members >= most_in_16_bits || begin >= most_in_32_bits || size_bytes >= most_in_32_bits) {
    record.u32(0x06064B50).u64(44).u16(version_zip64).u16(version_zip64).u32(0).u32(0);
    record.u64(members).u64(members).u64(size_bytes).u64(begin);
    record.u32(0x07064B50).u32(0).u64(begin + size_bytes).u32(1);
  }
  const std::uint64_t count = std::min(members, most_in_16_bits);
  record.u32(0x06054B50).u16(0).u16(0).u16(count).u16(count);
  return record.u32(std::min(size_bytes, most_in_32_bits))
      .u32(std::min(begin, most_in_32_bits))
      .u16(0);
}

}  // namespace ingot::formats
