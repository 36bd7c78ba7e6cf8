// SPDX-License-Identifier: MIT
// Results that say what their members are.
//
// Beside a result stands `describe(visit, result)`, which calls `visit(name, value, unit, meaning)`
// for each member. The program's JSON, the dicts of Python and the tables of docs/json.md are
// visitors, so that they have the same members under the same names.
//
// A value is a bool, a number, a text, an enumerator with a `name_of`, a TensorType, another
// described result, an optional of these, or a range of them.
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>

namespace ingot {

namespace detail {
struct AnyVisitor {
  template <class T>
  void operator()(std::string_view name, const T& value, std::string_view unit,
                  std::string_view meaning);
};

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
}  // namespace detail

/// Whether there is a `describe` for a T.
template <class T>
concept Described = std::is_class_v<T> && requires(detail::AnyVisitor& visit, const T& value) {
  describe(visit, value);
};

}  // namespace ingot
