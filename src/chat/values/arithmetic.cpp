// SPDX-License-Identifier: MIT
// Python's operators on numbers, strings and lists.
#include <algorithm>
#include <cmath>

#include "base/checked.hpp"
#include "chat/values/operations.hpp"

namespace ingot::chat {
namespace {

/// Signs of the operators.
constexpr std::string_view signs[] = {"+", "-", "*", "/", "//", "%", "**"};

/// Rounds toward minus infinity. `divisor` is not 0; nothing if the result does not fit.
std::optional<std::int64_t> floor_quotient(std::int64_t dividend, std::int64_t divisor) noexcept {
  if (divisor == -1 && dividend == std::numeric_limits<std::int64_t>::min()) return std::nullopt;
  const std::int64_t quotient = dividend / divisor;
  const bool is_inexact = quotient * divisor != dividend;
  return is_inexact && (dividend < 0) != (divisor < 0) ? quotient - 1 : quotient;
}

std::int64_t floor_rest(std::int64_t dividend, std::int64_t divisor) noexcept {
  if (divisor == -1) return 0;
  const std::int64_t rest = dividend % divisor;
  return rest != 0 && (rest < 0) != (divisor < 0) ? rest + divisor : rest;
}

double floor_rest(double dividend, double divisor) noexcept {
  const double rest = std::fmod(dividend, divisor);
  if (rest == 0) return std::copysign(0.0, divisor);
  return (rest < 0) != (divisor < 0) ? rest + divisor : rest;
}

/// Divides as Python's float_floor_div does: exact, unlike the floor of the quotient.
double floor_quotient(double dividend, double divisor) noexcept {
  const double quotient = (dividend - floor_rest(dividend, divisor)) / divisor;
  if (quotient == 0) return std::copysign(0.0, dividend / divisor);
  const double floored = std::floor(quotient);
  return quotient - floored > 0.5 ? floored + 1 : floored;
}

std::optional<std::int64_t> integer_power(std::int64_t base, std::int64_t exponent) noexcept {
  std::int64_t result = 1;
  while (true) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) return std::nullopt;
    exponent >>= 1;
    if (exponent == 0) return result;
    if (__builtin_mul_overflow(base, base, &base)) return std::nullopt;
  }
}

/// Nothing if the result does not fit 64 bits. The divisor is not 0, an exponent not negative.
std::optional<std::int64_t> integer_result(Operator operation, std::int64_t left,
                                           std::int64_t right) noexcept {
  std::int64_t result = 0;
  switch (operation) {
    case Operator::add:
      if (__builtin_add_overflow(left, right, &result)) return std::nullopt;
      return result;
    case Operator::subtract:
      if (__builtin_sub_overflow(left, right, &result)) return std::nullopt;
      return result;
    case Operator::multiply:
      if (__builtin_mul_overflow(left, right, &result)) return std::nullopt;
      return result;
    case Operator::floor_divide:
      return floor_quotient(left, right);
    case Operator::modulo:
      return floor_rest(left, right);
    default:
      return integer_power(left, right);
  }
}

double real_result(Operator operation, double left, double right) noexcept {
  switch (operation) {
    case Operator::add:
      return left + right;
    case Operator::subtract:
      return left - right;
    case Operator::multiply:
      return left * right;
    case Operator::divide:
      return left / right;
    case Operator::floor_divide:
      return floor_quotient(left, right);
    case Operator::modulo:
      return floor_rest(left, right);
    default:
      return std::pow(left, right);
  }
}

/// Whether Python's result is a float even for two integers.
bool is_real_operation(Operator operation, const Value& left, const Value& right) noexcept {
  if (!left.is_integral() || !right.is_integral()) return true;
  return operation == Operator::divide || (operation == Operator::power && right.as_integer() < 0);
}

Value number_result(Heap& heap, Operator operation, const Value& left, const Value& right) {
  const bool divides = operation == Operator::divide || operation == Operator::floor_divide ||
                       operation == Operator::modulo;
  const bool is_power = operation == Operator::power;
  if (divides && right.as_real() == 0) return heap.fail("division by zero");
  if (is_power && left.as_real() == 0 && right.as_real() < 0) {
    return heap.fail("0.0 cannot be raised to a negative power");
  }
  if (!is_real_operation(operation, left, right)) {
    const auto result = integer_result(operation, left.as_integer(), right.as_integer());
    if (!result) return heap.fail("the result is an integer beyond 64 bits");
    return Value::of(*result);
  }
  const double result = real_result(operation, left.as_real(), right.as_real());
  const bool was_finite = std::isfinite(left.as_real()) && std::isfinite(right.as_real());
  if (is_power && std::isnan(result) && was_finite) {
    return heap.fail("the result is a complex number");
  }
  if (is_power && std::isinf(result) && was_finite) return heap.fail("the result is too large");
  return Value::of(result);
}

/// A string or list, `count` times.
Value repeat(Heap& heap, const Value& value, std::int64_t count) {
  const std::uint64_t times = count < 0 ? 0 : static_cast<std::uint64_t>(count);
  const std::uint64_t size = value.is_string() ? value.size : value.list->count;
  std::uint64_t total = 0;
  if (__builtin_mul_overflow(size, times, &total)) total = ~std::uint64_t{0};
  if (value.is_string()) {
    if (!heap.allow_bytes(total)) return Failed();
    const auto mark = heap.output().begin();
    for (std::uint64_t i = 0; i < times && size > 0; ++i) heap.output().append(value);
    return heap.take_string(mark).with_markup(value.is_markup());
  }
  if (!heap.allow_elements(total)) return Failed();
  std::vector<Value> items;
  items.reserve(to_size(total));
  for (std::uint64_t i = 0; i < times && size > 0; ++i) {
    items.insert(items.end(), value.list->items, value.list->items + size);
  }
  return heap.new_list(items, value.kind);
}

/// Both lists or both tuples. Grows in place as strings do.
Value join_lists(Heap& heap, const Value& left, const Value& right) {
  const std::uint32_t left_count = left.list->count;
  const std::uint32_t right_count = right.list->count;
  const std::uint64_t total = std::uint64_t{left_count} + right_count;
  if (!heap.fits_list(total) || !heap.allow_elements(right_count)) return Failed();
  Growing<Value>* storage = left.list->storage;
  if (storage == nullptr || storage->count != left_count ||
      storage->capacity - left_count < right_count) {
    if (!heap.spend_on(left_count)) return Failed();
    const auto capacity = static_cast<std::uint32_t>(total * 2);
    auto* items = heap.arena().make_array<Value>(capacity);
    std::copy_n(left.list->items, left_count, items);
    storage = heap.arena().make<Growing<Value>>(items, left_count, capacity);
  }
  std::copy_n(right.list->items, right_count, storage->items + left_count);
  storage->count = static_cast<std::uint32_t>(total);
  return Value::of(heap.arena().make<List>(storage->items, storage->count, storage), left.kind);
}

Value join_strings(Heap& heap, const Value& left, const Value& right) {
  if (!left.is_markup() && !right.is_markup()) return concatenate(heap, left, right);
  INGOT_TRY(const Value safe_left, escaped(heap, left));
  INGOT_TRY(const Value safe_right, escaped(heap, right));
  return concatenate(heap, safe_left, safe_right).with_markup(true);
}

}  // namespace

Value arithmetic(Heap& heap, Operator operation, const Value& left, const Value& right) {
  if (operation == Operator::modulo && left.is_string()) return percent_format(heap, left, right);
  if (left.is_undefined() || right.is_undefined()) {
    return heap.fail_undefined(left.is_undefined() ? left : right);
  }
  if (left.is_number() && right.is_number()) {
    return number_result(heap, operation, left, right).with_origin(left.origin() & right.origin());
  }
  if (operation == Operator::add && left.kind == right.kind) {
    if (left.is_string()) return join_strings(heap, left, right);
    if (left.is_sequence()) return join_lists(heap, left, right);
  }
  if (operation == Operator::multiply) {
    if ((left.is_string() || left.is_sequence()) && right.is_integral()) {
      return repeat(heap, left, right.as_integer());
    }
    if ((right.is_string() || right.is_sequence()) && left.is_integral()) {
      return repeat(heap, right, left.as_integer());
    }
  }
  if (left.is(Kind::digits) || right.is(Kind::digits)) {
    return heap.fail("integers beyond 64 bits can only be compared and printed");
  }
  return heap.fail("unsupported operand type(s) for " +
                   std::string(signs[static_cast<std::size_t>(operation)]) + ": '" +
                   std::string(type_name(left.kind)) + "' and '" +
                   std::string(type_name(right.kind)) + "'");
}

Value negate(Heap& heap, const Value& value) {
  if (value.is_undefined()) return heap.fail_undefined(value);
  if (value.is(Kind::real)) return Value::of(-value.real);
  if (!value.is_integral()) {
    return heap.fail("bad operand type for unary -: '" + std::string(type_name(value.kind)) + "'");
  }
  if (value.as_integer() == std::numeric_limits<std::int64_t>::min()) {
    return heap.fail("the result is an integer beyond 64 bits");
  }
  return Value::of(-value.as_integer());
}

}  // namespace ingot::chat
