// SPDX-License-Identifier: MIT
// The input that `ingot chat` renders: a template and its variables, from the arguments.
#pragma once

#include <ingot/chat.hpp>
#include <ingot/chat_prompt.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/console.hpp"

namespace ingot::cli {

struct ChatArguments {
  std::vector<std::string> files;  ///< MODEL and INPUT; INPUT alone with a template
  std::optional<std::string> template_file;
  std::optional<std::string> name;
  std::optional<std::string> user;
  std::optional<std::string> system;
  std::optional<std::string> tools_file;
  std::vector<std::string> settings;  ///< NAME=JSON
  std::optional<std::string> now;
  bool has_no_generation_prompt = false;
  bool wants_ids = false;
  bool wants_runs = false;
  InputTokens inputs = InputTokens::plain;
};

/// The files of the arguments by their kind; empty if there is no such file.
struct ChatFiles {
  std::string model;
  std::string input;

  /// The subject of messages: the template or the model.
  [[nodiscard]] const std::string& subject(const ChatArguments& arguments) const {
    return arguments.template_file ? *arguments.template_file : model;
  }
};

/// The content to render.
struct ChatRequest {
  ChatValue messages;  ///< A list; or an object of all variables.
  ChatValue tools;
  ChatOptions options;

  /// Renders it.
  [[nodiscard]] Result<ChatText> render(const ChatTemplate& chat) const;
};

/// The reason why there is no request: exit code and message.
struct ChatProblem {
  ExitCode code = ExitCode::usage;
  std::string file;
  std::string message;
};

template <class T>
using ChatOutcome = tl::expected<T, ChatProblem>;

[[nodiscard]] ChatOutcome<ChatFiles> chat_files(const ChatArguments& arguments);
[[nodiscard]] ChatOutcome<ChatRequest> chat_request(const ChatArguments& arguments,
                                                    const std::string& input, bool allows_append);

}  // namespace ingot::cli
