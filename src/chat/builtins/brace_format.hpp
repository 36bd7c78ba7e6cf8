// SPDX-License-Identifier: MIT
// `"{} is {count:>5}".format(name, count=3)`
#pragma once

#include "chat/builtins/builtins.hpp"

namespace ingot::chat {

[[nodiscard]] Value brace_format(Call& call);
[[nodiscard]] Value brace_format_map(Call& call);

}  // namespace ingot::chat
