// SPDX-License-Identifier: MIT
// A prompt as `ingot chat` shows it.
#pragma once

#include <ingot/chat.hpp>
#include <ingot/chat_prompt.hpp>
#include <string_view>

#include "cli/console.hpp"

namespace ingot::cli {

/// Prints each run on a line of its own: its origin and its escaped text.
void print_runs(Console& console, const ChatText& prompt);

/// Ids on one line, separated by spaces.
void print_ids(Console& console, const ChatTokens& tokens);

/// Everything as one document; ids if there are any.
void print_chat_json(Console& console, std::string_view template_name, const ChatText& prompt,
                     const ChatTokens* tokens);

}  // namespace ingot::cli
