// SPDX-License-Identifier: MIT
// The fields of a message in Google's Protocol Buffers, one after the other, within limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ingot/error.hpp"

namespace ingot::huggingface {

/// One field. Source: https://protobuf.dev/programming-guides/encoding
struct ProtobufField {
  enum class Wire : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

  std::uint32_t number = 0;
  Wire wire = Wire::varint;
  std::uint64_t value = 0;        ///< The value of a varint, fixed64 or fixed32.
  std::string_view bytes;         ///< The bytes of a text or message; a view into the input.
  std::uint64_t file_offset = 0;  ///< The offset of the field.
};

/// Reads the fields of a message. Borrows the bytes.
class ProtobufReader {
 public:
  /// @param base_offset  where `bytes` begins in the file, for messages.
  explicit ProtobufReader(std::string_view bytes, std::uint64_t base_offset = 0) noexcept
      : bytes_(bytes), base_offset_(base_offset) {}
  /// The message in a field.
  explicit ProtobufReader(const ProtobufField& field, std::string_view file) noexcept
      : bytes_(field.bytes),
        base_offset_(static_cast<std::uint64_t>(field.bytes.data() - file.data())) {}

  /// The next field; nothing at the end of the message. Errors name the offset, not the file.
  [[nodiscard]] Result<std::optional<ProtobufField>> next();

 private:
  [[nodiscard]] Failure broken(std::string what) const;
  [[nodiscard]] Result<std::uint64_t> read_varint();
  [[nodiscard]] Result<std::uint64_t> read_fixed(std::size_t size_bytes);
  [[nodiscard]] Result<std::string_view> read_bytes();

  std::string_view bytes_;
  std::uint64_t base_offset_;
  std::size_t position_ = 0;
};

}  // namespace ingot::huggingface
