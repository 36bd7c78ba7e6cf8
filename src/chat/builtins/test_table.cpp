// SPDX-License-Identifier: MIT
// All tests: what may stand behind `is`.
#include <algorithm>
#include <initializer_list>

#include "chat/builtins/builtins.hpp"
#include "chat/values/characters.hpp"

namespace ingot::chat {
namespace {

template <Kind kind>
Value is_kind(Call& call) {
  return Value::of(call.self.is(kind));
}

template <Comparison comparison>
Value compares(Call& call) {
  return compare(call.heap, comparison, call.self, call[0]);
}

template <bool wanted>
Value is_boolean_value(Call& call) {
  return Value::of(call.self.is(Kind::boolean) && call.self.boolean == wanted);
}

Value is_defined(Call& call) { return Value::of(!call.self.is_undefined()); }

Value is_integer(Call& call) {
  return Value::of(call.self.is(Kind::integer) || call.self.is(Kind::digits));
}

Value is_number(Call& call) {
  return Value::of(call.self.is_number() || call.self.is(Kind::digits));
}

Value is_one_of(const Call& call, std::initializer_list<Kind> kinds) {
  return Value::of(std::find(kinds.begin(), kinds.end(), call.self.kind) != kinds.end());
}

Value is_callable(Call& call) {
  return is_one_of(call, {Kind::macro, Kind::function, Kind::loop, Kind::joiner, Kind::undefined});
}

Value is_iterable(Call& call) {
  return is_one_of(call, {Kind::undefined, Kind::string, Kind::list, Kind::tuple, Kind::object,
                          Kind::view, Kind::range, Kind::generator, Kind::loop});
}

Value is_sequence(Call& call) {
  return is_one_of(
      call, {Kind::undefined, Kind::string, Kind::list, Kind::tuple, Kind::object, Kind::range});
}

/// The rest of a division, compared.
Value has_rest(Call& call, const Value& divisor, std::int64_t wanted) {
  INGOT_TRY(const Value rest, arithmetic(call.heap, Operator::modulo, call.self, divisor));
  return Value::of(equal(call.heap, rest, Value::of(wanted)));
}

Value is_even(Call& call) { return has_rest(call, Value::of(std::int64_t{2}), 0); }
Value is_odd(Call& call) { return has_rest(call, Value::of(std::int64_t{2}), 1); }
Value is_divisible(Call& call) { return has_rest(call, call[0], 0); }

/// Python's `is`: the same object. Small integers and short texts, which Python keeps once, are the
/// same if they are equal.
Value is_same(Call& call) {
  const Value& other = call[0];
  if (call.self.kind != other.kind) return Value::of(false);
  if (call.self.is_number() || call.self.is_string()) {
    return Value::of(equal(call.heap, call.self, other));
  }
  if (call.self.is(Kind::none)) return Value::of(true);
  return Value::of(call.self.data == other.data);
}

Value is_in(Call& call) { return contains(call.heap, call[0], call.self); }
Value is_escaped(Call& call) { return Value::of(call.self.is_markup()); }

Value is_filter(Call& call) {
  if (!allow_key(call.heap, call.self)) return Failed();
  return Value::of(call.self.is_string() && find_builtin(filters(), call.self.text()) != nullptr);
}

Value is_test(Call& call) {
  if (!allow_key(call.heap, call.self)) return Failed();
  return Value::of(call.self.is_string() && find_builtin(tests(), call.self.text()) != nullptr);
}

template <bool wants_upper>
Value is_case(Call& call) {
  INGOT_TRY(const Value text, string_of(call.heap, call.self));
  const Builtin* method = find_builtin(string_methods(), wants_upper ? "isupper" : "islower");
  return call_builtin(call.heap, *method, text, {});
}

constexpr Builtin test_rows[] = {
    {"!=", compares<Comparison::ne>, {"other"}, 1},
    {"<", compares<Comparison::lt>, {"other"}, 1},
    {"<=", compares<Comparison::le>, {"other"}, 1},
    {"==", compares<Comparison::eq>, {"other"}, 1},
    {">", compares<Comparison::gt>, {"other"}, 1},
    {">=", compares<Comparison::ge>, {"other"}, 1},
    {"boolean", is_kind<Kind::boolean>},
    {"callable", is_callable},
    {"defined", is_defined},
    {"divisibleby", is_divisible, {"num"}, 1},
    {"eq", compares<Comparison::eq>, {"other"}, 1},
    {"equalto", compares<Comparison::eq>, {"other"}, 1},
    {"escaped", is_escaped},
    {"even", is_even},
    {"false", is_boolean_value<false>},
    {"filter", is_filter},
    {"float", is_kind<Kind::real>},
    {"ge", compares<Comparison::ge>, {"other"}, 1},
    {"greaterthan", compares<Comparison::gt>, {"other"}, 1},
    {"gt", compares<Comparison::gt>, {"other"}, 1},
    {"in", is_in, {"seq"}, 1},
    {"integer", is_integer},
    {"iterable", is_iterable},
    {"le", compares<Comparison::le>, {"other"}, 1},
    {"lessthan", compares<Comparison::lt>, {"other"}, 1},
    {"lower", is_case<false>},
    {"lt", compares<Comparison::lt>, {"other"}, 1},
    {"mapping", is_kind<Kind::object>},
    {"ne", compares<Comparison::ne>, {"other"}, 1},
    {"none", is_kind<Kind::none>},
    {"number", is_number},
    {"odd", is_odd},
    {"sameas", is_same, {"other"}, 1},
    {"sequence", is_sequence},
    {"string", is_kind<Kind::string>},
    {"test", is_test},
    {"true", is_boolean_value<true>},
    {"undefined", is_kind<Kind::undefined>},
    {"upper", is_case<true>},
};

}  // namespace

std::span<const Builtin> tests() noexcept { return test_rows; }

}  // namespace ingot::chat
