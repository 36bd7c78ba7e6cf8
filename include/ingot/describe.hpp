// SPDX-License-Identifier: MIT
// Results that say what their members are, and options that say what can be set.
//
// Beside a result stands `describe(visit, result)`, which calls `visit(name, value, unit, meaning)`
// for each member. The program's JSON, the dicts of Python and the tables of docs/json.md are
// visitors, so that they have the same members under the same names.
//
// Beside options stands `describe_options(visit, options)`, which calls `visit(name, member)` for
// each that is set by its name, as bindings to other languages do it.
//
// A value is a bool, a number, a text, an enumerator with a `name_of`, a TensorType, another
// described result, an optional of these, a range of them, or pairs of names and values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

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

/// Whether a T has values by names, in an order.
template <class T>
inline constexpr bool is_map = false;
template <class T>
inline constexpr bool is_map<std::vector<std::pair<std::string, T>>> = true;
}  // namespace detail

/// A text as the value of a member that is absent if the text is empty.
[[nodiscard]] inline std::optional<std::string_view> text_if_any(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

/// Whether there is a `describe` for a T.
template <class T>
concept Described = std::is_class_v<T> && requires(detail::AnyVisitor& visit, const T& value) {
  describe(visit, value);
};

}  // namespace ingot
