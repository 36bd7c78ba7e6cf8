// SPDX-License-Identifier: MIT
// What a misspelt name may have been meant to be.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "chat/builtins/builtins.hpp"

namespace ingot::chat {

/// `; did you mean 'x'?` with the row of a table that is nearest to a name, or nothing if none is
/// near.
[[nodiscard]] std::string hint_nearest(std::string_view name, std::span<const Builtin> table);

}  // namespace ingot::chat
