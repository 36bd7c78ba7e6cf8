// SPDX-License-Identifier: MIT
#include "check/key_form.hpp"

#include <algorithm>
#include <initializer_list>

namespace ingot::check {
namespace {

bool is_number(const Value& value) { return value.get<std::uint64_t>().has_value(); }

bool is_array_of(const Value& value, std::initializer_list<ValueType> types) {
  if (!value.is_array()) return false;
  const ValueType element = value.as_array().element_type();
  return std::find(types.begin(), types.end(), element) != types.end();
}

/// Models of some kinds have -1 for layers that have none.
bool is_list_of_integers(const Value& value) {
  return value.is_array() && is_integer(value.as_array().element_type());
}

}  // namespace

bool has_form(const Value& value, KeyForm form) {
  switch (form) {
    case KeyForm::text:
      return value.type() == ValueType::string;
    case KeyForm::number:
      return is_number(value);
    case KeyForm::number_or_list:
      return is_number(value) || is_list_of_integers(value);
    case KeyForm::number_or_flags:
      return is_number(value) || is_list_of_integers(value) ||
             is_array_of(value, {ValueType::boolean});
    case KeyForm::uint32:
      return value.type() == ValueType::uint32;
    case KeyForm::real:
      return is_float(value.type());
    case KeyForm::flag:
      return value.type() == ValueType::boolean;
    case KeyForm::texts:
      return is_array_of(value, {ValueType::string});
    case KeyForm::reals:
      return is_array_of(value, {ValueType::float32});
    case KeyForm::integers:
      return is_array_of(value, {ValueType::int32, ValueType::uint32});
    case KeyForm::bytes:
      return is_array_of(value, {ValueType::int8, ValueType::uint8});
  }
  return false;
}

}  // namespace ingot::check
