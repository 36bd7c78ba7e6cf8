// SPDX-License-Identifier: MIT
// The chat template of a model in the language of Ollama's Modelfile.
#pragma once

#include <ingot/chat.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace ingot::cli {

struct OllamaTemplate {
  std::string source;
  std::vector<std::string> left_out;  ///< Features of the template that it lacks: "tools", ...
  bool keeps_blanks = false;          ///< Around a message, where the template strips them.
};

/// Finds the template's own words between the messages of small conversations, and writes a
/// template of them. Both make the same prompts of six conversations; if not, the error says why,
/// as half a sentence. `begin` is a text that Ollama puts before every prompt by itself.
[[nodiscard]] tl::expected<OllamaTemplate, std::string> write_ollama_template(
    const ChatTemplate& chat, std::string_view begin);

}  // namespace ingot::cli
