// SPDX-License-Identifier: MIT
// Writes the wire format of protocol buffers.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace ingot::huggingface {

/// Fields of one message, in the order of the calls.
class ProtobufWriter {
 public:
  void add_varint(std::uint32_t field, std::uint64_t value) {
    put_varint(std::uint64_t{field} << 3);
    put_varint(value);
  }
  void add_bytes(std::uint32_t field, std::string_view bytes) {
    put_varint(std::uint64_t{field} << 3 | 2);
    put_varint(bytes.size());
    bytes_ += bytes;
  }
  void add_float(std::uint32_t field, float value) {
    put_varint(std::uint64_t{field} << 3 | 5);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (unsigned shift = 0; shift < 32; shift += 8) put_byte(bits >> shift);
  }

  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  void put_byte(std::uint64_t byte) { bytes_ += static_cast<char>(byte & 0xFF); }
  void put_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) put_byte((value & 0x7F) | 0x80);
    put_byte(value);
  }

  std::string bytes_;
};

}  // namespace ingot::huggingface
