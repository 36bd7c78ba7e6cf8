// SPDX-License-Identifier: MIT
// GGUF bytes, written field by field: any version, either byte order, and wrong wherever asked.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ingot/types.hpp"

namespace ingot::test {

using Bytes = std::vector<std::byte>;

/// The encoding of a file: how wide counts are, and in which order bytes stand.
struct Format {
  std::uint32_t version = 3;
  Endian byte_order = Endian::little;
};
inline constexpr Format v1{1, Endian::little};
inline constexpr Format v2{2, Endian::little};
inline constexpr Format v3{3, Endian::little};
inline constexpr Format v3_big{3, Endian::big};
inline constexpr std::initializer_list<Format> all_formats = {v1, v2, v3, v3_big};

/// Writes a file from front to back. The header's counts are those of the keys and tensors that
/// were written, unless `set_counts` says otherwise. `size()` before a field is its offset.
class GgufBuilder {
 public:
  explicit GgufBuilder(Format format = v3, std::string_view magic = "GGUF") : format_(format) {
    raw(magic).u32(format.version).count(0).count(0);
  }

  // --- fields
  template <class Number>
  GgufBuilder& number(Number value) {
    std::byte stored[sizeof value];
    std::memcpy(stored, &value, sizeof value);
    if ((format_.byte_order == Endian::little) != (std::endian::native == std::endian::little)) {
      std::reverse(stored, stored + sizeof value);
    }
    return append(stored);
  }
  GgufBuilder& u8(std::uint8_t value) { return number(value); }
  GgufBuilder& u32(std::uint32_t value) { return number(value); }
  GgufBuilder& u64(std::uint64_t value) { return number(value); }
  /// A count, length or dimension, as wide as the version has it.
  GgufBuilder& count(std::uint64_t value) {
    return format_.version == 1 ? u32(static_cast<std::uint32_t>(value)) : u64(value);
  }
  GgufBuilder& type(ValueType value) { return u32(static_cast<std::uint32_t>(value)); }
  GgufBuilder& type(TensorType value) { return u32(static_cast<std::uint32_t>(value)); }
  GgufBuilder& raw(std::string_view text) { return append(std::as_bytes(std::span(text))); }
  GgufBuilder& text(std::string_view text) { return count(text.size()).raw(text); }

  // --- key-value pairs
  /// A key and the type of its value, which has to follow.
  GgufBuilder& key(std::string_view name, ValueType value_type) {
    ++key_count_;
    return text(name).type(value_type);
  }
  /// The head of an array, whose elements have to follow.
  GgufBuilder& array(ValueType element_type, std::uint64_t element_count) {
    return type(element_type).count(element_count);
  }
  GgufBuilder& array_key(std::string_view name, ValueType element_type,
                         std::uint64_t element_count) {
    return key(name, ValueType::array).array(element_type, element_count);
  }
  template <class T>
  GgufBuilder& pair(std::string_view name, T value) {
    return key(name, type_of<T>()).element(value);
  }
  template <class T>
  GgufBuilder& array_pair(std::string_view name, std::initializer_list<T> values) {
    array_key(name, type_of<T>(), values.size());
    for (const T& value : values) element(value);
    return *this;
  }

  // --- tensors
  GgufBuilder& tensor(std::string_view name, const std::vector<std::uint64_t>& shape,
                      TensorType tensor_type, std::uint64_t data_offset) {
    return dimensions(name, shape).type(tensor_type).u64(data_offset);
  }
  /// The first half of a tensor info: name and shape; type and offset have to follow.
  GgufBuilder& dimensions(std::string_view name, const std::vector<std::uint64_t>& shape) {
    ++tensor_count_;
    text(name).u32(static_cast<std::uint32_t>(shape.size()));
    for (const std::uint64_t dimension : shape) count(dimension);
    return *this;
  }

  // --- the rest
  GgufBuilder& set_counts(std::uint64_t tensor_count, std::uint64_t key_count) {
    tensor_count_ = tensor_count;
    key_count_ = key_count;
    return *this;
  }
  GgufBuilder& pad_to(std::size_t alignment) {
    while (bytes_.size() % alignment != 0) bytes_.push_back(std::byte{0});
    return *this;
  }
  /// `byte_count` bytes that are not zero and differ from their neighbours.
  GgufBuilder& data(std::size_t byte_count) {
    for (std::size_t i = 0; i < byte_count; ++i) u8(static_cast<std::uint8_t>(i % 251 + 1));
    return *this;
  }

  [[nodiscard]] std::uint64_t size() const { return bytes_.size(); }

  [[nodiscard]] Bytes bytes() const {
    GgufBuilder counts(format_, "");
    counts.bytes_.clear();
    counts.count(tensor_count_).count(key_count_);
    Bytes file = bytes_;
    std::copy(counts.bytes_.begin(), counts.bytes_.end(), file.begin() + 8);
    return file;
  }

 private:
  // One by one: g++ 12 takes vector::insert of a range for an overflow.
  GgufBuilder& append(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) bytes_.push_back(byte);
    return *this;
  }
  template <class T>
  static constexpr ValueType type_of() {
    if constexpr (std::is_same_v<T, bool>) return ValueType::boolean;
    if constexpr (std::is_same_v<T, float>) return ValueType::float32;
    if constexpr (std::is_same_v<T, double>) return ValueType::float64;
    if constexpr (std::is_convertible_v<T, std::string_view>) return ValueType::string;
    if constexpr (std::is_same_v<T, std::uint8_t>) return ValueType::uint8;
    if constexpr (std::is_same_v<T, std::int8_t>) return ValueType::int8;
    if constexpr (std::is_same_v<T, std::uint16_t>) return ValueType::uint16;
    if constexpr (std::is_same_v<T, std::int16_t>) return ValueType::int16;
    if constexpr (std::is_same_v<T, std::uint32_t>) return ValueType::uint32;
    if constexpr (std::is_same_v<T, std::int32_t>) return ValueType::int32;
    if constexpr (std::is_same_v<T, std::uint64_t>) return ValueType::uint64;
    if constexpr (std::is_same_v<T, std::int64_t>) return ValueType::int64;
  }
  template <class T>
  GgufBuilder& element(const T& value) {
    if constexpr (std::is_convertible_v<T, std::string_view>) {
      return text(value);
    } else {
      return number(value);
    }
  }

  Format format_;
  Bytes bytes_;
  std::uint64_t tensor_count_ = 0;
  std::uint64_t key_count_ = 0;
};

}  // namespace ingot::test
