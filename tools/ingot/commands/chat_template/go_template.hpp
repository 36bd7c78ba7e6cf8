// SPDX-License-Identifier: MIT
// The part of Go's template language that ollama_template.cpp writes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ingot::cli {

struct GoMessage {
  std::string_view role;
  std::string content;
};

/// The prompt that Ollama makes by a template: `.Messages` are the messages, a first one of the
/// system among them, and `.System` is its text. Nothing if the template says more than we write.
[[nodiscard]] std::optional<std::string> render_go(std::string_view source,
                                                   std::span<const GoMessage> messages);

/// A text as a template prints it.
[[nodiscard]] std::string quote_for_go(std::string_view text);

}  // namespace ingot::cli
