// SPDX-License-Identifier: MIT
// Metadata of a model: keys with typed values, as views into the file.
#pragma once

#include <atomic>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/types.hpp"

namespace ingot {

/// Bytes that offsets of tensors are multiples of, in a file without `general.alignment`.
inline constexpr std::uint32_t default_alignment = 32;

/// The first key of a file that has a layout index (layout_index.hpp); an ordinary array of u64 to
/// every other reader.
inline constexpr std::string_view layout_index_key = "ingot.index";

namespace detail {
struct ValueContext;  // how the values of one file are encoded, and the indexes built for them
}

class Array;

/// The results of `Value::get` and `Array::get`.
template <class T>
concept MetadataScalar = std::integral<T> || std::floating_point<T> ||
    std::same_as<T, std::string_view> || std::same_as<T, std::string>;

/// One metadata value: a typed view into the file. Cheap to copy; valid as long as its model.
/// Thread-safe. Nothing here allocates except to report an error, and for a copy of a string.
class Value {
 public:
  Value() = default;

  [[nodiscard]] ValueType type() const noexcept { return type_; }
  [[nodiscard]] bool is_array() const noexcept { return type_ == ValueType::array; }

  /// The value as T:
  /// - an integer type: any stored integer width, if the value fits (else value_out_of_range);
  /// - bool: a stored bool; float and double: a stored float32 or float64 (a float64 must be exact
  ///   as float); std::string_view: a stored string, raw bytes, not necessarily UTF-8;
  ///   std::string: a copy of it.
  /// Errc::wrong_type names the stored type.
  template <MetadataScalar T>
  [[nodiscard]] Result<T> get() const;

  /// The elements; an empty array view if this is not an array.
  [[nodiscard]] INGOT_EXPORT Array as_array() const noexcept;

  /// The value's bytes as they are in the file, without the length of a string and without the
  /// element type and count of an array.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return {data_, static_cast<std::size_t>(size_bytes_)};
  }

  /// The offset of `bytes` in its file.
  [[nodiscard]] INGOT_EXPORT std::uint64_t file_offset() const noexcept;

 private:
  friend class Array;
  friend struct detail::ValueContext;

  [[nodiscard]] INGOT_EXPORT Result<std::int64_t> get_signed(std::int64_t low,
                                                             std::int64_t high) const;
  [[nodiscard]] INGOT_EXPORT Result<std::uint64_t> get_unsigned(std::uint64_t high) const;
  [[nodiscard]] INGOT_EXPORT Result<bool> get_bool() const;
  [[nodiscard]] INGOT_EXPORT Result<float> get_float() const;
  [[nodiscard]] INGOT_EXPORT Result<double> get_double() const;
  [[nodiscard]] INGOT_EXPORT Result<std::string_view> get_string() const;

  const std::byte* data_ = nullptr;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t count_ = 0;  // elements of an array
  const detail::ValueContext* context_ = nullptr;
  ValueType type_ = ValueType::uint8;
  ValueType element_type_ = ValueType::uint8;
};

/// The elements of an array value. Cheap to copy; valid as long as its model. Thread-safe.
///
/// Going through an array from front to back reads each element once and allocates nothing.
/// Random access is O(1); for arrays of strings and of arrays the first random access builds an
/// index (8 bytes an element) that the model keeps.
class Array {
 public:
  Array() = default;

  [[nodiscard]] ValueType element_type() const noexcept { return element_type_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return count_; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

  /// The element at `index`, which must be below size(). Throws std::bad_alloc if the index of an
  /// array of strings or arrays cannot be built.
  [[nodiscard]] INGOT_EXPORT Value operator[](std::uint64_t index) const;

  /// The element at `index` as T, like Value::get; Errc::index_out_of_range if there is none.
  template <MetadataScalar T>
  [[nodiscard]] Result<T> get(std::uint64_t index) const {
    if (index >= count_) return out_of_range(index);
    return (*this)[index].template get<T>();
  }

  class Iterator {
   public:
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::forward_iterator_tag;

    Iterator() = default;
    [[nodiscard]] Value operator*() const noexcept { return value_; }
    INGOT_EXPORT Iterator& operator++() noexcept;
    Iterator operator++(int) noexcept {
      Iterator before = *this;
      ++*this;
      return before;
    }
    [[nodiscard]] bool operator==(const Iterator& other) const noexcept {
      return remaining_ == other.remaining_;
    }

   private:
    friend class Array;
    Value value_;
    const std::byte* next_ = nullptr;  // the first byte after value_
    std::uint64_t remaining_ = 0;      // elements from value_ on
  };

  [[nodiscard]] INGOT_EXPORT Iterator begin() const noexcept;
  [[nodiscard]] Iterator end() const noexcept { return {}; }

  /// All elements as they are in the file.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return {data_, static_cast<std::size_t>(size_bytes_)};
  }

 private:
  friend class Value;

  [[nodiscard]] INGOT_EXPORT static Failure out_of_range(std::uint64_t index);

  const std::byte* data_ = nullptr;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t count_ = 0;
  const detail::ValueContext* context_ = nullptr;
  ValueType element_type_ = ValueType::uint8;
};

/// A key and its value.
struct KeyValue {
  std::string_view key;
  Value value;
};

template <MetadataScalar T>
Result<T> Value::get() const {
  if constexpr (std::same_as<T, bool>) {
    return get_bool();
  } else if constexpr (std::same_as<T, std::string_view>) {
    return get_string();
  } else if constexpr (std::same_as<T, std::string>) {
    return get_string().transform([](std::string_view text) { return std::string(text); });
  } else if constexpr (std::same_as<T, float>) {
    return get_float();
  } else if constexpr (std::floating_point<T>) {
    static_assert(std::same_as<T, double>, "floats are stored as float32 and float64");
    return get_double();
  } else if constexpr (std::signed_integral<T>) {
    return get_signed(std::numeric_limits<T>::min(), std::numeric_limits<T>::max())
        .transform([](std::int64_t value) { return static_cast<T>(value); });
  } else {
    return get_unsigned(std::numeric_limits<T>::max()).transform([](std::uint64_t value) {
      return static_cast<T>(value);
    });
  }
}

}  // namespace ingot
