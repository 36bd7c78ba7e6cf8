// SPDX-License-Identifier: MIT
// JSON as a value for chat templates.
#pragma once

#include <ingot/chat.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace ingot::cli {

/// Reads a JSON text. Members keep their order, integers beyond 64 bits their digits. The error
/// gives the fault and its offset.
[[nodiscard]] tl::expected<ChatValue, std::string> parse_chat_json(std::string_view text);

}  // namespace ingot::cli
