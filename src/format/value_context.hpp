// SPDX-License-Identifier: MIT
// The encoding of the values of one file, and the indexes of its arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "base/byte_order.hpp"
#include "base/checked.hpp"
#include "base/mutex.hpp"
#include "ingot/metadata.hpp"

namespace ingot::detail {

/// The widths and the byte order of the fields of values.
struct ValueEncoding {
  bool is_swapped = false;         ///< Fields have the other byte order than this machine.
  bool has_narrow_counts = false;  ///< Counts and lengths have 32 bits (version 1).
  bool strips_nul = false;         ///< Strings lose one trailing NUL (versions 1 and 2).

  [[nodiscard]] std::uint64_t count_bytes() const noexcept { return has_narrow_counts ? 4 : 8; }
  [[nodiscard]] std::uint64_t load_count(const std::byte* from) const noexcept {
    return has_narrow_counts ? load<std::uint32_t>(from, is_swapped)
                             : load<std::uint64_t>(from, is_swapped);
  }
  /// The text of a string of `length_bytes` at `data`.
  [[nodiscard]] std::string_view text(const std::byte* data,
                                      std::uint64_t length_bytes) const noexcept {
    if (strips_nul && length_bytes != 0 && data[length_bytes - 1] == std::byte{0}) --length_bytes;
    return {reinterpret_cast<const char*>(data), to_size(length_bytes)};
  }
};

/// The facts that all values of one file share; outlives them.
struct ValueContext {
  const std::byte* file_begin = nullptr;  ///< File offsets are counted from here.
  ValueEncoding encoding;

  /// Makes a value over bytes that have passed the parser.
  [[nodiscard]] Value make(ValueType type, ValueType element_type, const std::byte* data,
                           std::uint64_t size_bytes, std::uint64_t count) const noexcept {
    Value value;
    value.type_ = type;
    value.element_type_ = element_type;
    value.data_ = data;
    value.size_bytes_ = size_bytes;
    value.count_ = count;
    value.context_ = this;
    return value;
  }

  /// The offset of the record that begins with the length of `name`, a view of the header.
  [[nodiscard]] std::uint64_t record_offset(std::string_view name) const noexcept {
    const auto* const begin = reinterpret_cast<const std::byte*>(name.data());
    return static_cast<std::uint64_t>(begin - file_begin) - encoding.count_bytes();
  }

  /// The encoding of a value.
  [[nodiscard]] static const ValueEncoding& encoding_of(const Value& value) noexcept {
    return value.context_->encoding;
  }

  /// The offset of each element of an array of strings or arrays, from `data` on. The table is
  /// built on the first call and kept for the life of the context. Thread-safe. Throws
  /// std::bad_alloc.
  [[nodiscard]] const std::uint64_t* element_offsets(ValueType element_type, const std::byte* data,
                                                     std::uint64_t count) const;

 private:
  mutable Mutex mutex_;
  mutable std::unordered_map<const std::byte*, std::unique_ptr<std::uint64_t[]>> element_offsets_;
};

/// The deepest nesting of arrays that any limit allows.
inline constexpr std::size_t max_array_depth = 64;

/// Walks the elements of a parsed array and of its nested arrays, without recursion. Calls
/// `visitor` for each run: `scalars(type, data, count)`, `text(data, length_bytes)` and
/// `begin_array(element_type, data, count)`, where data is the first byte of the content. Returns
/// the first byte after the array.
template <class Visitor>
const std::byte* walk_array(const ValueEncoding& encoding, ValueType element_type,
                            const std::byte* data, std::uint64_t count, Visitor&& visitor) {
  std::uint64_t arrays_left[max_array_depth];
  std::size_t depth = 0;
  for (;;) {
    if (element_type == ValueType::array) {
      if (count != 0) arrays_left[depth++] = count;
    } else if (element_type == ValueType::string) {
      for (; count != 0; --count) {
        const std::uint64_t length_bytes = encoding.load_count(data);
        data += encoding.count_bytes();
        visitor.text(data, length_bytes);
        data += length_bytes;
      }
    } else {
      visitor.scalars(element_type, data, count);
      data += count * size_bytes_of(element_type);
    }
    while (depth != 0 && arrays_left[depth - 1] == 0) --depth;
    if (depth == 0) return data;
    --arrays_left[depth - 1];
    element_type = static_cast<ValueType>(load<std::uint32_t>(data, encoding.is_swapped));
    count = encoding.load_count(data + 4);
    data += 4 + encoding.count_bytes();
    visitor.begin_array(element_type, data, count);
  }
}

}  // namespace ingot::detail
