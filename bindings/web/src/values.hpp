// SPDX-License-Identifier: MIT
// Values of JavaScript, as package/values.js writes them.
#pragma once

#include <ingot/chat.hpp>
#include <ingot/error.hpp>
#include <span>

namespace ingot::web {

/// Reads a value: a letter for its kind, then what the kind has.
[[nodiscard]] Result<ChatValue> read_value(std::span<const char> bytes);

}  // namespace ingot::web
