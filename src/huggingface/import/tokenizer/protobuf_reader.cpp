// SPDX-License-Identifier: MIT
#include "huggingface/import/tokenizer/protobuf_reader.hpp"

#include <string>
#include <utility>

namespace ingot::huggingface {

Failure ProtobufReader::broken(std::string what) const {
  return fail(Errc::import_refused, base_offset_ + position_, {}, std::move(what));
}

Result<std::uint64_t> ProtobufReader::read_varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (position_ == bytes_.size()) return broken("the file ends in a number");
    const auto byte = static_cast<unsigned char>(bytes_[position_++]);
    value |= static_cast<std::uint64_t>(byte & 0x7Fu) << shift;
    if (byte < 0x80) return value;
  }
  return broken("a number of more than ten bytes");
}

Result<std::uint64_t> ProtobufReader::read_fixed(std::size_t size_bytes) {
  if (bytes_.size() - position_ < size_bytes) return broken("the file ends in a number");
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size_bytes; ++i) {
    const auto byte = static_cast<unsigned char>(bytes_[position_ + i]);
    value |= static_cast<std::uint64_t>(byte) << (8 * i);
  }
  position_ += size_bytes;
  return value;
}

Result<std::string_view> ProtobufReader::read_bytes() {
  INGOT_TRY(const std::uint64_t length, read_varint());
  if (length > bytes_.size() - position_) {
    return broken("a field of " + std::to_string(length) + " bytes where " +
                  std::to_string(bytes_.size() - position_) + " are left");
  }
  const std::string_view bytes = bytes_.substr(position_, static_cast<std::size_t>(length));
  position_ += bytes.size();
  return bytes;
}

Result<std::optional<ProtobufField>> ProtobufReader::next() {
  if (position_ == bytes_.size()) return std::nullopt;
  ProtobufField field;
  field.file_offset = base_offset_ + position_;
  INGOT_TRY(const std::uint64_t tag, read_varint());
  // Field numbers have 29 bits.
  if (tag >> 32 != 0 || tag >> 3 == 0) return broken("no field has this number");
  field.number = static_cast<std::uint32_t>(tag >> 3);
  field.wire = static_cast<ProtobufField::Wire>(tag & 7);
  switch (field.wire) {
    case ProtobufField::Wire::varint: {
      INGOT_TRY(field.value, read_varint());
      return field;
    }
    case ProtobufField::Wire::fixed64: {
      INGOT_TRY(field.value, read_fixed(8));
      return field;
    }
    case ProtobufField::Wire::bytes: {
      INGOT_TRY(field.bytes, read_bytes());
      return field;
    }
    case ProtobufField::Wire::fixed32: {
      INGOT_TRY(field.value, read_fixed(4));
      return field;
    }
  }
  return broken("a field of the wire type " + std::to_string(tag & 7) +
                ", where 0, 1, 2 and 5 are defined");
}

}  // namespace ingot::huggingface
