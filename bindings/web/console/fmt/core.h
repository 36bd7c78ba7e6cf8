// SPDX-License-Identifier: MIT
// What the program uses of the library fmt, in a tenth of its code: texts, whole numbers, and reals
// with a precision, with a width.
#pragma once

#include <concepts>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <variant>

namespace fmt {
namespace detail {

using Argument = std::variant<std::string_view, std::int64_t, std::uint64_t, double>;

template <class Value>
Argument argument(const Value& value) {
  if constexpr (std::convertible_to<const Value&, std::string_view>) {
    return std::string_view(value);
  } else if constexpr (std::floating_point<Value>) {
    return static_cast<double>(value);
  } else if constexpr (std::signed_integral<Value>) {
    return static_cast<std::int64_t>(value);
  } else {
    return static_cast<std::uint64_t>(value);
  }
}
inline Argument argument(const char& character) { return std::string_view(&character, 1); }

std::string format(std::string_view format, const Argument* arguments);

}  // namespace detail

/// Of which the program's own build checks that it fits the arguments.
template <class...>
using format_string = std::string_view;

template <class... Values>
[[nodiscard]] std::string format(std::string_view format, const Values&... values) {
  const detail::Argument arguments[] = {detail::argument(values)..., {}};
  return detail::format(format, arguments);
}

template <class... Values>
void format_to(std::back_insert_iterator<std::string> end, std::string_view format,
               const Values&... values) {
  for (const char c : fmt::format(format, values...)) end = c;
}

}  // namespace fmt
