// SPDX-License-Identifier: MIT
// Which values are true, equal, less, or contained.
#include <algorithm>
#include <cmath>

#include "chat/values/operations.hpp"
#include "chat/values/text_search.hpp"

namespace ingot::chat {
namespace {

constexpr std::uint32_t max_compare_depth = 400;

/// Exact for all integers: a long double holds 64 bits where Ingot runs, and the rest is a tie that
/// only numbers above 2^53 know.
int compare_numbers(const Value& left, const Value& right) noexcept {
  if (left.is_integral() && right.is_integral()) {
    const std::int64_t a = left.as_integer();
    const std::int64_t b = right.as_integer();
    return a < b ? -1 : a > b ? 1 : 0;
  }
  const auto number_of = [](const Value& value) {
    return value.is_integral() ? static_cast<long double>(value.as_integer())
                               : static_cast<long double>(value.real);
  };
  const long double a = number_of(left);
  const long double b = number_of(right);
  return a < b ? -1 : a > b ? 1 : 0;
}

bool is_nan(const Value& value) noexcept { return value.is(Kind::real) && std::isnan(value.real); }

/// Beyond 64 bits on one side at least: the sign, then the count of digits, then the digits.
int compare_digits(const Value& left, const Value& right) noexcept {
  const auto is_negative = [](const Value& value) {
    return value.is(Kind::digits) ? value.text().starts_with('-') : value.as_integer() < 0;
  };
  if (is_negative(left) != is_negative(right)) return is_negative(left) ? -1 : 1;
  const int sign = is_negative(left) ? -1 : 1;
  if (!left.is(Kind::digits)) return -sign;
  if (!right.is(Kind::digits)) return sign;
  if (left.size != right.size) return left.size < right.size ? -sign : sign;
  const int order = left.text().compare(right.text());
  return order < 0 ? -sign : order > 0 ? sign : 0;
}

bool is_any_integer(const Value& value) noexcept {
  return value.is_integral() || value.is(Kind::digits);
}

/// Every pair of values counts, however often they share their parts.
bool allow_comparison(Heap& heap, std::uint32_t depth) {
  return heap.spend(1) &&
         heap.is_within("the depth of values that are compared", max_compare_depth, depth);
}

}  // namespace

bool has_hash(Heap& heap, const Value& value, std::uint32_t depth) {
  switch (value.kind) {
    case Kind::list:
    case Kind::object:
    case Kind::view:
      return false;
    case Kind::tuple:
      return allow_comparison(heap, depth) && heap.spend(value.list->count) &&
             std::all_of(value.list->items, value.list->items + value.list->count,
                         [&](const Value& item) { return has_hash(heap, item, depth + 1); });
    default:
      return true;
  }
}

bool is_true(const Value& value) {
  switch (value.kind) {
    case Kind::missing:
    case Kind::failure:
    case Kind::none:
      return false;
    case Kind::boolean:
      return value.boolean;
    case Kind::integer:
      return value.integer != 0;
    case Kind::real:
      return value.real != 0;
    case Kind::string:
      return value.size > 0;
    default:
      return count_of(value) != 0;  // what has no count is true
  }
}

bool equal(Heap& heap, const Value& left, const Value& right, std::uint32_t depth) {
  if (!allow_comparison(heap, depth)) return false;
  if (left.is_number() && right.is_number()) {
    return !is_nan(left) && !is_nan(right) && compare_numbers(left, right) == 0;
  }
  if (left.kind != right.kind) return false;
  switch (left.kind) {
    case Kind::undefined:
    case Kind::none:
      return true;
    case Kind::string:
    case Kind::digits:
      return left.size == right.size && heap.spend(left.size >> 4) && left.text() == right.text();
    case Kind::list:
    case Kind::tuple:
      if (left.list->count != right.list->count) return false;
      return std::equal(
          left.list->items, left.list->items + left.list->count, right.list->items,
          [&](const Value& a, const Value& b) { return equal(heap, a, b, depth + 1); });
    case Kind::object: {
      if (left.object->count != right.object->count) return false;
      const auto pairs = left.object->span();
      return std::all_of(pairs.begin(), pairs.end(), [&](const Pair& pair) {
        const Value* other = find(heap, *right.object, pair.key);
        return other != nullptr && equal(heap, pair.value, *other, depth + 1);
      });
    }
    case Kind::range:
      return left.range->count == right.range->count &&
             (left.range->count == 0 || left.range->start == right.range->start) &&
             (left.range->count <= 1 || left.range->step == right.range->step);
    case Kind::function:
      return left.bound->builtin == right.bound->builtin &&
             left.bound->self.data == right.bound->self.data;
    default:
      return left.data == right.data;
  }
}

/// NaN is neither less nor greater than a number; the 2 that it gives is neither, too.
std::optional<int> order(Heap& heap, const Value& left, const Value& right, std::string_view sign,
                         std::uint32_t depth) {
  if (left.is_undefined() || right.is_undefined()) {
    return heap.fail_undefined(left.is_undefined() ? left : right);
  }
  if (!allow_comparison(heap, depth)) return std::nullopt;
  if (left.is_number() && right.is_number()) {
    return is_nan(left) || is_nan(right) ? 2 : compare_numbers(left, right);
  }
  if (is_any_integer(left) && is_any_integer(right)) {
    if (!heap.spend_on(std::min(left.size, right.size))) return std::nullopt;
    return compare_digits(left, right);
  }
  if (left.is_string() && right.is_string()) {
    if (!heap.spend_on(std::min(left.size, right.size))) return std::nullopt;
    const int result = left.text().compare(right.text());
    return result < 0 ? -1 : result > 0 ? 1 : 0;
  }
  if (left.is_sequence() && left.kind == right.kind) {
    const std::uint32_t common = std::min(left.list->count, right.list->count);
    for (std::uint32_t i = 0; i < common; ++i) {
      const Value& a = left.list->items[i];
      const Value& b = right.list->items[i];
      if (!equal(heap, a, b, depth + 1)) return order(heap, a, b, sign, depth + 1);
    }
    return left.list->count < right.list->count ? -1 : left.list->count > right.list->count ? 1 : 0;
  }
  return heap.fail("'" + std::string(sign) + "' not supported between instances of '" +
                   std::string(type_name(left.kind)) + "' and '" +
                   std::string(type_name(right.kind)) + "'");
}

Value compare(Heap& heap, Comparison comparison, const Value& left, const Value& right) {
  struct Row {
    std::string_view sign;
    bool less;
    bool same;
    bool greater;
  };
  constexpr Row rows[] = {{"==", false, true, false}, {"!=", true, false, true},
                          {"<", true, false, false},  {"<=", true, true, false},
                          {">", false, false, true},  {">=", false, true, true}};
  if (comparison == Comparison::in || comparison == Comparison::not_in) {
    INGOT_TRY(const Value found, contains(heap, right, left));
    return Value::of(found.boolean == (comparison == Comparison::in));
  }
  if (comparison == Comparison::eq) return Value::of(equal(heap, left, right));
  if (comparison == Comparison::ne) return Value::of(!equal(heap, left, right));
  const Row& row = rows[static_cast<std::size_t>(comparison)];
  INGOT_TRY(const int result, order(heap, left, right, row.sign));
  return Value::of(result == -1 ? row.less : result == 0 ? row.same : result == 1 && row.greater);
}

Value contains(Heap& heap, const Value& container, const Value& item) {
  if (container.is_string()) {
    if (!item.is_string()) {
      return heap.fail("'in <string>' requires string as left operand, not " +
                       std::string(type_name(item.kind)));
    }
    if (!heap.spend_on(std::uint64_t{container.size} + item.size)) return Failed();
    return Value::of(find_text(container.text(), item.text()) != std::string_view::npos);
  }
  const bool is_keyed = container.is(Kind::object) ||
                        (container.is(Kind::view) && container.view->part == View::Part::keys);
  if (is_keyed) {
    if (!allow_key(heap, item)) return Failed();
    const Object& object = container.is(Kind::object) ? *container.object : *container.view->object;
    return Value::of(find(heap, object, item) != nullptr);
  }
  INGOT_TRY(Iteration iteration, iterate(heap, container));
  while (true) {
    INGOT_TRY(const Value element, next(heap, iteration));
    if (!element.is_given()) return Value::of(false);
    if (!heap.spend(1)) return Failed();
    if (equal(heap, element, item)) return Value::of(true);
  }
}

}  // namespace ingot::chat
