// SPDX-License-Identifier: MIT
// All filters.
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

}  // namespace ingot::chat
