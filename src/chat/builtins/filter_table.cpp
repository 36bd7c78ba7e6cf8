// SPDX-License-Identifier: MIT
// All filters.
#include <algorithm>

#include "chat/builtins/filter_functions.hpp"

namespace ingot::chat {
namespace {

constexpr Builtin filter_rows[] = {
#define INGOT_FILTER(name, function, parameters, required, extra) \
  {name, filter_##function, parameters, required, Builtin::Extra::extra},
#include "chat/builtins/filters.def"
#undef INGOT_FILTER
};

}  // namespace

std::span<const Builtin> filters() noexcept { return filter_rows; }

const Builtin* find_builtin(std::span<const Builtin> table, std::string_view name) noexcept {
  const auto row = std::lower_bound(
      table.begin(), table.end(), name,
      [](const Builtin& candidate, std::string_view wanted) { return candidate.name < wanted; });
  return row != table.end() && row->name == name ? &*row : nullptr;
}

std::optional<std::int64_t> Call::integer(std::size_t index, std::int64_t fallback) const {
  const Value& value = arguments[index];
  if (!value.is_given()) return fallback;
  if (value.is_integral()) return value.as_integer();
  if (value.is_undefined()) {
    render.fail_undefined(value);
  } else {
    render.fail("'" + std::string(type_name(value.kind)) +
                "' object cannot be interpreted as an integer");
  }
  return std::nullopt;
}

bool Call::flag(std::size_t index, bool fallback) const {
  return has(index) ? render.is_true(arguments[index]) : fallback;
}

}  // namespace ingot::chat
