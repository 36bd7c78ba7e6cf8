// SPDX-License-Identifier: MIT
// The functions of the table of filters.
#pragma once

#include "chat/builtins/builtins.hpp"

namespace ingot::chat {

#define INGOT_FILTER(name, function, parameters, required, extra) \
  [[nodiscard]] Value filter_##function(Call& call);
#include "chat/builtins/filters.def"
#undef INGOT_FILTER

}  // namespace ingot::chat
