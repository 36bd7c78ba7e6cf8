// SPDX-License-Identifier: MIT
// Filters, tests, methods and global functions: one table each.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "chat/values/operations.hpp"

namespace ingot::chat {

/// Arguments as they are written: `f(1, x=2)`.
struct Arguments {
  std::span<const Value> positional;
  std::span<const Keyword> keywords;
};

/// A call whose arguments have found their parameters.
struct Call {
  Heap& heap;
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

/// The kinds that have methods.
enum class Owner : std::uint8_t { string, list, tuple, object, integer, real, cycler, loop };
inline constexpr std::size_t owner_count = 8;

/// A name of the template, and the built-ins that it means: a variable or an attribute. Equal names
/// are one Name.
struct Name {
  std::string_view text;
  std::uint32_t id = 0;                                  ///< from 0, in order of appearance
  std::array<const Builtin*, owner_count> methods = {};  ///< by Owner; null: no such method
  const Builtin* global = nullptr;
  Bound global_function;  ///< of `global`
};

#define INGOT_FILTER(name, function, ...) Value filter_##function(Call& call);
#include "chat/builtins/filters.def"
#undef INGOT_FILTER

[[nodiscard]] std::span<const Builtin> filters() noexcept;
[[nodiscard]] std::span<const Builtin> tests() noexcept;
[[nodiscard]] std::span<const Builtin> globals() noexcept;
[[nodiscard]] std::span<const Builtin> methods_of(Owner owner) noexcept;
[[nodiscard]] std::span<const Builtin> string_methods() noexcept;

/// `"{} is {count:>5}".format(name, count=3)`
Value brace_format(Call& call);
Value brace_format_map(Call& call);

/// Null if the table has no such row. Tables are sorted by name.
[[nodiscard]] const Builtin* find_builtin(std::span<const Builtin> table,
                                          std::string_view name) noexcept;

/// `; did you mean 'x'?` with the row of a table that is nearest to a name, or nothing if none is
/// near.
[[nodiscard]] std::string hint_nearest(std::string_view name, std::span<const Builtin> table);

/// The table that holds the methods of a kind, if it has any.
[[nodiscard]] std::optional<Owner> owner_of(Kind kind) noexcept;

Value call_builtin(Heap& heap, const Builtin& builtin, const Value& self,
                   const Arguments& arguments);

/// `object.name`; `known` is the name, if it stands in the template.
Value attribute(Heap& heap, const Value& object, std::string_view name,
                const Name* known = nullptr);
/// Python's getattr(): no keys of objects.
Value attribute_only(Heap& heap, const Value& object, std::string_view name);
/// `object[index]`
Value item(Heap& heap, const Value& object, const Value& index);
/// The attribute at a path, as `map(attribute="a.b.0")` has it.
Value attribute_path(Heap& heap, const Value& object, std::span<const Value> path,
                     const Value& fallback = {});
/// "a.b.0" as the steps of a path; nothing after a failure.
[[nodiscard]] std::optional<std::span<const Value>> split_path(Heap& heap, const Value& path);

}  // namespace ingot::chat
