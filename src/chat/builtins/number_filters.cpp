// SPDX-License-Identifier: MIT
// Filters on numbers.
#include <array>
#include <cmath>

#include "chat/builtins/builtins.hpp"
#include "chat/values/numbers.hpp"

namespace ingot::chat {
namespace {

Failed type_failure(Call& call) {
  if (call.self.is_undefined()) return call.heap.fail_undefined(call.self);
  return call.heap.fail(std::string(call.builtin.name) + " needs a number, not " +
                        std::string(type_name(call.self.kind)));
}

}  // namespace

Value filter_abs(Call& call) {
  if (call.self.is(Kind::real)) return Value::of(std::fabs(call.self.real));
  if (!call.self.is_integral()) return type_failure(call);
  return call.self.as_integer() < 0 ? negate(call.heap, call.self)
                                    : Value::of(call.self.as_integer());
}

Value filter_int(Call& call) {
  const Value fallback = call.has(0) ? call[0] : Value::of(std::int64_t{0});
  const bool has_base = !call.has(1) || call[1].is_integral();
  const std::int64_t base = call.has(1) && has_base ? call[1].as_integer() : 10;
  if (call.self.is_undefined()) return call.heap.fail_undefined(call.self);
  if (call.self.is(Kind::digits)) return call.self;
  if (call.self.is_string() && !call.heap.spend(call.self.size)) return Failed();
  if (call.self.is_integral())
    return Value::of(call.self.as_integer()).with_origin(call.self.origin());
  std::optional<std::int64_t> number;
  if (call.self.is(Kind::real)) {
    if (std::isinf(call.self.real))
      return call.heap.fail("cannot convert float infinity to integer");
    number = truncate_real(call.self.real);
  } else if (call.self.is_string()) {
    if (has_base) number = parse_integer(call.self.text(), base);
    if (!number) {
      const std::optional<double> real = parse_real(call.self.text());
      if (real) number = truncate_real(*real);
    }
  }
  return number ? Value::of(*number).with_origin(call.self.origin()) : fallback;
}

Value filter_float(Call& call) {
  const Value fallback = call.has(0) ? call[0] : Value::of(0.0);
  if (call.self.is_undefined()) return call.heap.fail_undefined(call.self);
  if (call.self.is_number()) return Value::of(call.self.as_real()).with_origin(call.self.origin());
  if (!call.self.is_string() && !call.self.is(Kind::digits)) return fallback;
  if (!call.heap.spend(call.self.size)) return Failed();
  const std::optional<double> number = parse_real(call.self.text());
  return number ? Value::of(*number).with_origin(call.self.origin()) : fallback;
}

Value filter_round(Call& call) {
  INGOT_TRY(const std::int64_t precision, call.integer(0));
  const std::string_view method = call[1].is_string() ? call[1].text()
                                  : call.has(1)       ? ""
                                                      : "common";
  if (method != "common" && method != "ceil" && method != "floor") {
    return call.heap.fail("method must be common, ceil or floor");
  }
  if (!call.self.is_number()) return type_failure(call);
  if (method != "common") {
    const double unit = std::pow(10.0, static_cast<double>(precision));
    const double scaled = call.self.as_real() * unit;
    const double rounded = method == "ceil" ? std::ceil(scaled) : std::floor(scaled);
    if (!std::isfinite(rounded) || unit == 0)
      return call.heap.fail("the number cannot be rounded so");
    return Value::of(rounded / unit);
  }
  if (call.self.is(Kind::real)) {
    if (!call.heap.spend(real_text_steps)) return Failed();
    return Value::of(round_real(call.self.real, precision));
  }
  const std::optional<std::int64_t> rounded = round_integer(call.self.as_integer(), precision);
  return rounded ? Value::of(*rounded) : call.heap.fail("the result is an integer beyond 64 bits");
}

Value filter_filesizeformat(Call& call) {
  constexpr std::array<std::string_view, 8> prefixes = {"k", "M", "G", "T", "P", "E", "Z", "Y"};
  const Value number = filter_float(call);
  if (number.failed()) return number;
  if (!call.heap.spend(real_text_steps + call.self.size)) return Failed();
  const bool is_readable =
      call.self.is_number() || (call.self.is_string() && parse_real(call.self.text()));
  if (!is_readable) return type_failure(call);
  const bool is_binary = call.flag(0);
  const double base = is_binary ? 1024 : 1000;
  const double bytes = number.real;
  if (!std::isfinite(bytes)) return type_failure(call);
  if (bytes == 1) return Value::text_of("1 Byte");
  if (bytes < base)
    return call.heap.new_string(std::to_string(static_cast<std::int64_t>(bytes)) + " Bytes");
  double unit = base;
  std::size_t prefix = 0;
  while (prefix + 1 < prefixes.size() && bytes >= unit * base) {
    unit *= base;
    ++prefix;
  }
  std::string text = fixed_text(bytes / unit, 1) + " ";
  text += is_binary && prefix == 0 ? "K" : prefixes[prefix];
  return call.heap.new_string(text + (is_binary ? "iB" : "B"));
}

}  // namespace ingot::chat
