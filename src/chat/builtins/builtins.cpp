// SPDX-License-Identifier: MIT
// All filters; rows are found by name, and arguments find their parameters.
#include "chat/builtins/builtins.hpp"

#include <algorithm>

namespace ingot::chat {
namespace {

constexpr Builtin filter_rows[] = {
#define INGOT_FILTER(name, function, ...) {name, filter_##function, __VA_ARGS__},
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
  if (value.is_undefined()) return heap.fail_undefined(value);
  return heap.fail("'" + std::string(type_name(value.kind)) +
                   "' object cannot be interpreted as an integer");
}

bool Call::flag(std::size_t index, bool fallback) const {
  return has(index) ? is_true(arguments[index]) : fallback;
}

std::optional<Owner> owner_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::string:
      return Owner::string;
    case Kind::list:
      return Owner::list;
    case Kind::tuple:
      return Owner::tuple;
    case Kind::object:
      return Owner::object;
    case Kind::boolean:
    case Kind::integer:
      return Owner::integer;
    case Kind::real:
      return Owner::real;
    case Kind::cycler:
      return Owner::cycler;
    case Kind::loop:
      return Owner::loop;
    default:
      return std::nullopt;
  }
}

Value call_builtin(Heap& heap, const Builtin& builtin, const Value& self,
                   const Arguments& arguments) {
  Call call{heap, builtin, self, {}, {}, {}};
  const std::size_t count = builtin.parameter_count();
  const auto* const begin = builtin.parameters.data();
  const auto* const end = begin + count;
  const std::size_t positional = std::min(count, arguments.positional.size());
  std::copy_n(arguments.positional.begin(), positional, call.arguments.begin());
  call.more = arguments.positional.subspan(positional);
  if (!call.more.empty() && builtin.extra == Builtin::Extra::refused) {
    return heap.fail(std::string(builtin.name) + "() takes at most " + std::to_string(count) +
                     " arguments (" + std::to_string(arguments.positional.size()) + " given)");
  }
  if (builtin.extra == Builtin::Extra::accepted) {
    call.more_keywords = arguments.keywords;
  } else {
    for (const Keyword& keyword : arguments.keywords) {
      const auto* const parameter = std::find(begin, end, keyword.name);
      const auto index = static_cast<std::size_t>(parameter - begin);
      if (parameter == end || call.has(index)) {
        return heap.fail(std::string(builtin.name) +
                         (parameter == end ? "() has no parameter '" : "() got two values for '") +
                         std::string(keyword.name) + "'");
      }
      call.arguments[index] = keyword.value;
    }
  }
  for (std::size_t i = 0; i < builtin.required; ++i) {
    if (!call.has(i)) {
      return heap.fail(std::string(builtin.name) + "() needs at least " +
                       std::to_string(builtin.required) + " arguments");
    }
  }
  return builtin.function(call);
}

}  // namespace ingot::chat
