// SPDX-License-Identifier: MIT
// Filters, tests, methods and global functions: one table each.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "chat/compile/syntax_tree.hpp"
#include "chat/values/runtime_value.hpp"

namespace ingot::chat {

struct Keyword {
  std::string_view name;
  Value value;
};

/// Arguments as they are written: `f(1, x=2)`.
struct Arguments {
  std::span<const Value> positional;
  std::span<const Keyword> keywords;
};

inline constexpr std::size_t max_parameters = 6;

/// A call whose arguments have found their parameters.
struct Call {
  Render& render;
  const Builtin& builtin;
  Value self;  ///< what a filter, test or method is applied to
  std::array<Value, max_parameters> arguments = {};  ///< by parameter; missing if not given
  std::span<const Value> more;                       ///< positional ones without a parameter
  std::span<const Keyword> more_keywords;

  [[nodiscard]] const Value& operator[](std::size_t index) const { return arguments[index]; }
  [[nodiscard]] bool has(std::size_t index) const { return arguments[index].is_given(); }
  /// Given, and not none.
  [[nodiscard]] bool has_value(std::size_t index) const { return arguments[index].is_set(); }
  /// An integer argument, or its default; nothing, after a failure, if it is something else.
  [[nodiscard]] std::optional<std::int64_t> integer(std::size_t index,
                                                    std::int64_t fallback = 0) const;
  /// The same for one that may be none, too.
  [[nodiscard]] std::optional<std::int64_t> integer_or_none(std::size_t index,
                                                            std::int64_t fallback = 0) const {
    return has_value(index) ? integer(index) : fallback;
  }
  /// Whether a flag is set.
  [[nodiscard]] bool flag(std::size_t index, bool fallback = false) const;
};

/// One row of a table.
struct Builtin {
  enum class Extra : std::uint8_t { refused, positional, accepted };

  std::string_view name;
  Value (*function)(Call&) = nullptr;
  std::string_view parameters = {};  ///< names, separated by spaces
  std::uint8_t required = 0;         ///< how many of them have no default
  Extra extra = Extra::refused;      ///< arguments beyond the parameters
  /// Changes its object, which the sandbox refuses; without a function, also when it is lenient.
  bool is_writing = false;
};

[[nodiscard]] std::span<const Builtin> filters() noexcept;
[[nodiscard]] std::span<const Builtin> tests() noexcept;
[[nodiscard]] std::span<const Builtin> globals() noexcept;
[[nodiscard]] std::span<const Builtin> methods_of(Owner owner) noexcept;
[[nodiscard]] std::span<const Builtin> string_methods() noexcept;

/// Null if the table has no such row. Tables are sorted by name.
[[nodiscard]] const Builtin* find_builtin(std::span<const Builtin> table,
                                          std::string_view name) noexcept;

/// The table that holds the methods of a kind, if it has any.
[[nodiscard]] std::optional<Owner> owner_of(Kind kind) noexcept;

}  // namespace ingot::chat
