// SPDX-License-Identifier: MIT
// A metadata value of any type that a program builds.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/metadata.hpp"
#include "ingot/types.hpp"

namespace ingot {

/// A value without a file, for ModelWriter::set_value and ModelEdit::set, where the type is known
/// only at run time. Movable; not thread-safe while it is built.
class INGOT_EXPORT OwnedValue {
 public:
  /// An integer or a float; the C++ type decides the stored type.
  template <class T>
  requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>) [[nodiscard]] static OwnedValue
      number(T value) {
    return scalar(type_of<T>(), &value, sizeof value);
  }
  [[nodiscard]] static OwnedValue boolean(bool value);
  [[nodiscard]] static OwnedValue string(std::string_view value);
  /// An array without elements yet.
  [[nodiscard]] static OwnedValue array(ValueType element_type);
  /// An array of integers or floats; the C++ type decides the element type.
  template <class T>
  requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>) [[nodiscard]] static OwnedValue
      array_of(std::span<const T> values) {
    return scalars(type_of<T>(), values.data(), values.size(), sizeof(T));
  }
  [[nodiscard]] static OwnedValue copy_of(const Value& value);

  OwnedValue(OwnedValue&&) noexcept;
  OwnedValue& operator=(OwnedValue&&) noexcept;
  ~OwnedValue();

  /// Appends an element to an array. Errc::wrong_type if this is not an array or its elements are
  /// of another type; Errc::nesting_too_deep if arrays would be nested deeper than 64.
  Result<void> append(const Value& element);
  Result<void> append(const OwnedValue& element) { return append(element.value()); }

  /// A view that is valid until this changes.
  [[nodiscard]] Value value() const noexcept;

  /// The value type that stores a C++ number.
  template <class T>
  [[nodiscard]] static constexpr ValueType type_of() noexcept {
    if constexpr (std::floating_point<T>) {
      return sizeof(T) == 4 ? ValueType::float32 : ValueType::float64;
    } else {
      constexpr bool is_signed = std::is_signed_v<T>;
      switch (sizeof(T)) {
        case 1:
          return is_signed ? ValueType::int8 : ValueType::uint8;
        case 2:
          return is_signed ? ValueType::int16 : ValueType::uint16;
        case 4:
          return is_signed ? ValueType::int32 : ValueType::uint32;
        default:
          return is_signed ? ValueType::int64 : ValueType::uint64;
      }
    }
  }

 private:
  [[nodiscard]] static OwnedValue scalar(ValueType type, const void* value, std::size_t bytes);
  [[nodiscard]] static OwnedValue scalars(ValueType element_type, const void* values,
                                          std::size_t count, std::size_t element_bytes);

  struct State;
  explicit OwnedValue(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace ingot
