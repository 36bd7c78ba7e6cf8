// SPDX-License-Identifier: MIT
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "base/checked.hpp"
#include "base/real_text.hpp"
#include "format/value_context.hpp"
#include "ingot/metadata.hpp"

namespace ingot {

namespace {

/// The type of a value, for messages: "uint32", "array of string".
std::string describe(ValueType type, ValueType element_type) {
  if (type != ValueType::array) return std::string(name_of(type));
  return "array of " + std::string(name_of(element_type));
}

Failure wrong_type(const Value& value, ValueType element_type, std::string_view wanted) {
  return fail(
      Errc::wrong_type, value.file_offset(), {},
      "holds " + describe(value.type(), element_type) + ", asked for " + std::string(wanted));
}

Failure does_not_fit(const Value& value, const std::string& number) {
  return fail(Errc::value_out_of_range, value.file_offset(), {}, "holds " + number);
}

struct NoVisitor {
  void scalars(ValueType, const std::byte*, std::uint64_t) const noexcept {}
  void text(const std::byte*, std::uint64_t) const noexcept {}
  void begin_array(ValueType, const std::byte*, std::uint64_t) const noexcept {}
};

/// The element of an array that begins at `data`, with its size.
struct Element {
  Value value;
  const std::byte* end;
};

inline Element read_element(const detail::ValueContext& context, ValueType type,
                            const std::byte* data) {
  const detail::ValueEncoding& encoding = context.encoding;
  if (type == ValueType::string) {
    const std::uint64_t length_bytes = encoding.load_count(data);
    data += encoding.count_bytes();
    const std::string_view text = encoding.text(data, length_bytes);
    return {context.make(type, type, data, text.size(), 1), data + length_bytes};
  }
  if (type == ValueType::array) {
    const auto element_type =
        static_cast<ValueType>(load<std::uint32_t>(data, encoding.is_swapped));
    const std::uint64_t count = encoding.load_count(data + 4);
    data += 4 + encoding.count_bytes();
    const std::byte* end = detail::walk_array(encoding, element_type, data, count, NoVisitor{});
    return {context.make(type, element_type, data, static_cast<std::uint64_t>(end - data), count),
            end};
  }
  const std::uint32_t size_bytes = size_bytes_of(type);
  return {context.make(type, type, data, size_bytes, 1), data + size_bytes};
}

/// Reads only lengths, as vocabularies have hundreds of thousands of strings.
void fill_string_offsets(const detail::ValueEncoding& encoding, const std::byte* data,
                         std::span<std::uint64_t> offsets) noexcept {
  const std::uint64_t count_bytes = encoding.count_bytes();
  std::uint64_t next = 0;
  for (std::uint64_t& offset : offsets) {
    offset = next;
    next += count_bytes + encoding.load_count(data + next);
  }
}

/// A stored integer as its sign and the bits of its two's complement.
struct Integer {
  bool is_integer = false;
  bool is_negative = false;
  std::uint64_t bits = 0;
};

template <class Stored>
Integer load_integer(const std::byte* data, bool is_swapped) noexcept {
  const auto stored = static_cast<Stored>(load<std::make_unsigned_t<Stored>>(data, is_swapped));
  return {true, stored < 0, static_cast<std::uint64_t>(stored)};
}

Integer read_integer(ValueType type, const std::byte* data, bool is_swapped) noexcept {
  switch (type) {
    case ValueType::uint8:
      return {true, false, std::to_integer<std::uint8_t>(*data)};
    case ValueType::int8:
      return load_integer<std::int8_t>(data, is_swapped);
    case ValueType::uint16:
      return {true, false, load<std::uint16_t>(data, is_swapped)};
    case ValueType::int16:
      return load_integer<std::int16_t>(data, is_swapped);
    case ValueType::uint32:
      return {true, false, load<std::uint32_t>(data, is_swapped)};
    case ValueType::int32:
      return load_integer<std::int32_t>(data, is_swapped);
    case ValueType::uint64:
      return {true, false, load<std::uint64_t>(data, is_swapped)};
    case ValueType::int64:
      return load_integer<std::int64_t>(data, is_swapped);
    default:
      return {};
  }
}

}  // namespace

namespace detail {

const std::uint64_t* ValueContext::element_offsets(ValueType element_type, const std::byte* data,
                                                   std::uint64_t count) const {
  const MutexLock lock(mutex_);
  std::unique_ptr<std::uint64_t[]>& offsets = element_offsets_[data];
  if (offsets == nullptr) {
    auto built = std::make_unique_for_overwrite<std::uint64_t[]>(to_size(count));
    if (element_type == ValueType::string) {
      fill_string_offsets(encoding, data, {built.get(), to_size(count)});
    } else {
      const std::byte* next = data;
      for (std::uint64_t i = 0; i < count; ++i) {
        built[to_size(i)] = static_cast<std::uint64_t>(next - data);
        next = read_element(*this, element_type, next).end;
      }
    }
    offsets = std::move(built);
  }
  return offsets.get();
}

}  // namespace detail

std::uint64_t Value::file_offset() const noexcept {
  if (context_ == nullptr || context_->file_begin == nullptr) return Error::no_offset;
  return static_cast<std::uint64_t>(data_ - context_->file_begin);
}

Array Value::as_array() const noexcept {
  Array array;
  if (!is_array()) return array;
  array.data_ = data_;
  array.size_bytes_ = size_bytes_;
  array.count_ = count_;
  array.context_ = context_;
  array.element_type_ = element_type_;
  return array;
}

Result<std::int64_t> Value::get_signed(std::int64_t low, std::int64_t high) const {
  const Integer integer =
      context_ == nullptr ? Integer{} : read_integer(type_, data_, context_->encoding.is_swapped);
  if (!integer.is_integer) return wrong_type(*this, element_type_, "an integer");
  const auto number = static_cast<std::int64_t>(integer.bits);
  if (!integer.is_negative && number < 0) return does_not_fit(*this, std::to_string(integer.bits));
  if (number < low || number > high) return does_not_fit(*this, std::to_string(number));
  return number;
}

Result<std::uint64_t> Value::get_unsigned(std::uint64_t high) const {
  const Integer integer =
      context_ == nullptr ? Integer{} : read_integer(type_, data_, context_->encoding.is_swapped);
  if (!integer.is_integer) return wrong_type(*this, element_type_, "an integer");
  if (integer.is_negative) {
    return does_not_fit(*this, std::to_string(static_cast<std::int64_t>(integer.bits)));
  }
  if (integer.bits > high) return does_not_fit(*this, std::to_string(integer.bits));
  return integer.bits;
}

Result<bool> Value::get_bool() const {
  if (context_ == nullptr || type_ != ValueType::boolean) {
    return wrong_type(*this, element_type_, "a bool");
  }
  return *data_ != std::byte{0};
}

Result<float> Value::get_float() const {
  INGOT_TRY(const double number, get_double());
  const bool is_finite = std::isfinite(number);
  if (is_finite && std::abs(number) > double{std::numeric_limits<float>::max()}) {
    return does_not_fit(*this, shortest_real(number));
  }
  const auto narrowed = static_cast<float>(number);
  if (is_finite && double{narrowed} != number) return does_not_fit(*this, shortest_real(number));
  return narrowed;
}

Result<double> Value::get_double() const {
  if (context_ != nullptr && type_ == ValueType::float32) {
    return std::bit_cast<float>(load<std::uint32_t>(data_, context_->encoding.is_swapped));
  }
  if (context_ != nullptr && type_ == ValueType::float64) {
    return std::bit_cast<double>(load<std::uint64_t>(data_, context_->encoding.is_swapped));
  }
  return wrong_type(*this, element_type_, "a float");
}

Result<std::string_view> Value::get_string() const {
  if (context_ == nullptr || type_ != ValueType::string) {
    return wrong_type(*this, element_type_, "a string");
  }
  return std::string_view(reinterpret_cast<const char*>(data_), to_size(size_bytes_));
}

Value Array::operator[](std::uint64_t index) const {
  const std::uint32_t size_bytes = size_bytes_of(element_type_);
  if (size_bytes != 0) {
    return context_->make(element_type_, element_type_, data_ + index * size_bytes, size_bytes, 1);
  }
  const std::uint64_t* offsets = context_->element_offsets(element_type_, data_, count_);
  return read_element(*context_, element_type_, data_ + offsets[index]).value;
}

Array::Iterator Array::begin() const noexcept {
  Iterator iterator;
  if (count_ == 0) return iterator;
  const Element first = read_element(*context_, element_type_, data_);
  iterator.value_ = first.value;
  iterator.next_ = first.end;
  iterator.remaining_ = count_;
  return iterator;
}

Array::Iterator& Array::Iterator::operator++() noexcept {
  if (--remaining_ == 0) return *this;
  // If only place and size change, only they are written. A vocabulary is then walked through at
  // the speed of reading its lengths.
  if (value_.type_ == ValueType::string) {
    const detail::ValueEncoding& encoding = value_.context_->encoding;
    const std::uint64_t length_bytes = encoding.load_count(next_);
    value_.data_ = next_ + encoding.count_bytes();
    value_.size_bytes_ = encoding.text(value_.data_, length_bytes).size();
    next_ = value_.data_ + length_bytes;
  } else if (const std::uint32_t size_bytes = size_bytes_of(value_.type_); size_bytes != 0) {
    value_.data_ = next_;
    next_ += size_bytes;
  } else {
    const Element element = read_element(*value_.context_, value_.type_, next_);
    value_ = element.value;
    next_ = element.end;
  }
  return *this;
}

Failure Array::out_of_range(std::uint64_t index) {
  return fail(Errc::index_out_of_range, {}, "index " + std::to_string(index));
}

}  // namespace ingot
