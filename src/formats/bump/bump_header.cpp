// SPDX-License-Identifier: MIT
#include "formats/bump/bump_header.hpp"

#include <cstring>
#include <string>
#include <string_view>

#include "base/byte_order.hpp"

namespace ingot::formats {
namespace {

constexpr std::string_view magic_prefix = "BUMPWGT";
constexpr std::uint32_t legacy_model_type = 1;  // every writer writes it, and nothing reads it

/// A place in the header; the fields of both layouts in the order in which they lie.
struct Field {
  std::size_t offset;
  std::size_t size_bytes;
  std::uint64_t BumpShape::*member;
};

constexpr std::array fields_v3 = {
    Field{0x10, 4, &BumpShape::layers},
    Field{0x14, 4, &BumpShape::vocabulary},
    Field{0x18, 4, &BumpShape::embedding},
    Field{0x1C, 4, &BumpShape::context},
    Field{0x20, 4, &BumpShape::heads},
    Field{0x24, 4, &BumpShape::head_width},
    Field{0x28, 8, &BumpShape::aligned_embedding},
    Field{0x30, 8, &BumpShape::aligned_head},
    Field{0x38, 8, &BumpShape::aligned_context},
};

constexpr std::array fields_v4 = {
    Field{0x10, 4, &BumpShape::layers},
    Field{0x14, 4, &BumpShape::vocabulary},
    Field{0x18, 4, &BumpShape::embedding},
    Field{0x1C, 4, &BumpShape::feed_forward},
    Field{0x20, 4, &BumpShape::context},
    Field{0x24, 4, &BumpShape::heads},
    Field{0x28, 4, &BumpShape::kv_heads},
    Field{0x2C, 4, &BumpShape::head_width},
    Field{0x30, 8, &BumpShape::aligned_embedding},
    Field{0x38, 8, &BumpShape::aligned_head},
    Field{0x40, 8, &BumpShape::aligned_feed_forward},
    Field{0x48, 8, &BumpShape::aligned_context},
};

std::span<const Field> fields_of(std::uint32_t version) {
  if (version < 4) return fields_v3;
  return fields_v4;
}

void put(BumpHeaderBytes& bytes, std::size_t offset, std::uint64_t number, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i, number >>= 8) {
    bytes[offset + i] = static_cast<std::byte>(number & 0xFF);
  }
}

/// A number of 4 or 8 bytes.
std::uint64_t number_at(std::span<const std::byte> bytes, std::size_t offset, std::size_t size) {
  const std::byte* const from = &bytes[offset];
  return size == 4 ? load_little<std::uint32_t>(from) : load_little<std::uint64_t>(from);
}

/// A type and its codes; no_code where a numbering lacks it.
struct TypeCodes {
  TensorType type;
  std::uint8_t doc;
  std::uint8_t engine;
};

constexpr std::uint8_t no_code = 255;

constexpr std::array type_codes = {
    TypeCodes{TensorType::f32, 0, 0},         TypeCodes{TensorType::bf16, 1, 1},
    TypeCodes{TensorType::f16, 2, 2},         TypeCodes{TensorType::q4_0, 5, 5},
    TypeCodes{TensorType::q4_1, no_code, 6},  TypeCodes{TensorType::q4_k, 6, 7},
    TypeCodes{TensorType::q6_k, 7, 8},        TypeCodes{TensorType::q8_0, 8, 9},
    TypeCodes{TensorType::q8_k, no_code, 10}, TypeCodes{TensorType::q5_0, no_code, 11},
    TypeCodes{TensorType::q5_1, no_code, 12}, TypeCodes{TensorType::q5_k, no_code, 13},
};

}  // namespace

BumpHeaderBytes make_bump_header(std::uint32_t version, const BumpShape& shape) {
  BumpHeaderBytes bytes{};
  std::memcpy(bytes.data(), magic_prefix.data(), magic_prefix.size());
  bytes[magic_prefix.size()] = static_cast<std::byte>('0' + version);
  put(bytes, 0x08, version, 4);
  put(bytes, 0x0C, legacy_model_type, 4);
  for (const Field& field : fields_of(version)) {
    put(bytes, field.offset, shape.*field.member, field.size_bytes);
  }
  return bytes;
}

std::size_t bump_checksum_offset(std::uint32_t version) noexcept {
  return version < 4 ? 0x40 : 0x50;
}

Result<BumpHeader> parse_bump_header(std::span<const std::byte> bytes) {
  if (bytes.size() < bump_header_bytes) return fail(Errc::truncated, bytes.size(), "header");
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  const char digit = text[magic_prefix.size()];
  if (std::string_view(text, magic_prefix.size()) != magic_prefix || digit < '2' || digit > '5') {
    return fail(Errc::bump_header_invalid, 0, "magic", "known are BUMPWGT2 to BUMPWGT5");
  }
  BumpHeader header;
  header.version = static_cast<std::uint32_t>(digit - '0');
  const std::uint64_t version = number_at(bytes, 0x08, 4);
  if (version != header.version) {
    return fail(Errc::bump_header_invalid, 0x08, "version",
                "found " + std::to_string(version) + ", the magic says " + digit);
  }
  for (const Field& field : fields_of(header.version)) {
    header.shape.*field.member = number_at(bytes, field.offset, field.size_bytes);
  }
  header.merges = static_cast<std::uint32_t>(number_at(bytes, 0x50, 4));
  header.vocabulary_bytes = static_cast<std::uint32_t>(number_at(bytes, 0x54, 4));
  return header;
}

std::optional<std::uint8_t> bump_code_of(TensorType type, BumpCodes codes) noexcept {
  for (const TypeCodes& row : type_codes) {
    const std::uint8_t code = codes == BumpCodes::doc ? row.doc : row.engine;
    if (row.type == type && code != no_code) return code;
  }
  return std::nullopt;
}

std::optional<TensorType> bump_type_of(std::uint8_t code, BumpCodes codes) noexcept {
  for (const TypeCodes& row : type_codes) {
    if (code != no_code && (codes == BumpCodes::doc ? row.doc : row.engine) == code)
      return row.type;
  }
  return std::nullopt;
}

}  // namespace ingot::formats
