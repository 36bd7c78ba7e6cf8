// SPDX-License-Identifier: MIT
// JSON as a value for chat templates.
#pragma once

#include <cstdint>
#include <ingot/chat.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace ingot::cli {

/// Reads a JSON text. Members keep their order, integers beyond 64 bits their digits. The error
/// gives the fault and its offset.
[[nodiscard]] tl::expected<ChatValue, std::string> parse_chat_json(std::string_view text);

/// A number of any form; nothing for all else, a member that is not there included.
[[nodiscard]] std::optional<double> number_of(const ChatValue* value);

/// A text, a count, and whether it is true; empty, 0 and false for all else.
[[nodiscard]] std::string text_of(const ChatValue* value);
[[nodiscard]] std::uint64_t count_of(const ChatValue* value);
[[nodiscard]] bool is_true(const ChatValue* value);

}  // namespace ingot::cli
