// SPDX-License-Identifier: MIT
#include "commands/chat/chat_input.hpp"

#include <ingot/text.hpp>
#include <utility>

#include "text/chat_json.hpp"
#include "text/whole_file.hpp"

namespace ingot::cli {
namespace {

tl::unexpected<ChatProblem> wrong_usage(std::string message) {
  return tl::make_unexpected(ChatProblem{ExitCode::usage, {}, "chat: " + std::move(message)});
}

ChatOutcome<ChatValue> read_json(const std::string& path) {
  const Result<std::string> text = read_whole(path);
  if (!text) {
    Error error = text.error();
    error.subject.clear();
    return tl::make_unexpected(ChatProblem{ExitCode::system, path, error.message()});
  }
  auto value = parse_chat_json(*text);
  if (!value) return tl::make_unexpected(ChatProblem{ExitCode::refused, path, value.error()});
  return *std::move(value);
}

/// `--set NAME=JSON`
ChatOutcome<ChatValue> variables_of(const std::vector<std::string>& settings) {
  ChatValue variables = ChatValue::object();
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return wrong_usage("--set must be NAME=JSON, not \"" + escape_shortened(setting, 60) + "\"");
    }
    auto value = parse_chat_json(std::string_view(setting).substr(equals + 1));
    if (!value) {
      return wrong_usage("--set " + escape_shortened(setting.substr(0, equals), 60) + ": " +
                         value.error() + "; a string is written '\"text\"'");
    }
    variables.add(setting.substr(0, equals), *std::move(value));
  }
  return variables;
}

ChatOutcome<ChatValue> conversation(const ChatArguments& arguments, const std::string& input) {
  if (input.empty()) {
    ChatValue messages = ChatValue::list();
    if (arguments.system) messages.add(chat_message("system", *arguments.system));
    if (arguments.user) messages.add(chat_message("user", *arguments.user));
    return messages;
  }
  ChatOutcome<ChatValue> value = read_json(input);
  if (!value) return value;
  if (value->elements() == nullptr && value->members() == nullptr) {
    return tl::make_unexpected(ChatProblem{
        ExitCode::refused, input, "it is neither an array of messages nor an object of variables"});
  }
  return value;
}

}  // namespace

Result<ChatText> ChatRequest::render(const ChatTemplate& chat) const {
  return messages.members() != nullptr ? chat.render_variables(messages, options)
                                       : chat.render(messages, tools, options);
}

ChatOutcome<ChatFiles> chat_files(const ChatArguments& arguments) {
  const bool has_words = arguments.user || arguments.system;
  const bool needs_model = !arguments.template_file || arguments.wants_ids;
  std::vector<std::string> files = arguments.files;
  ChatFiles result;
  const std::size_t wanted = (needs_model ? 1u : 0u) + (has_words ? 0u : 1u);
  const bool may_have_model = !needs_model && files.size() == wanted + 1;
  if (needs_model || may_have_model) {
    if (files.empty()) {
      return wrong_usage(arguments.template_file ? "MODEL is missing: ids come from its tokenizer"
                                                 : "MODEL is missing, or --template FILE");
    }
    result.model = files.front();
    files.erase(files.begin());
  }
  if (!has_words) {
    if (files.empty()) return wrong_usage("INPUT is missing: a file of JSON, or --user TEXT");
    result.input = files.front();
    files.erase(files.begin());
  } else if (!files.empty()) {
    return wrong_usage("give either INPUT or --user and --system");
  }
  if (!files.empty()) {
    return wrong_usage("too many files: \"" + escape_shortened(files.front(), 60) + "\"");
  }
  return result;
}

ChatOutcome<ChatRequest> chat_request(const ChatArguments& arguments, const std::string& input,
                                      bool allows_append) {
  ChatRequest request;
  request.options.is_lenient = allows_append;
  request.options.add_generation_prompt = !arguments.has_no_generation_prompt;
  if (arguments.now) {
    const Result<ChatTime> now = parse_chat_time(*arguments.now);
    if (!now) {
      return wrong_usage("--now: \"" + escape_shortened(*arguments.now, 40) +
                         "\" is no time like 2025-07-04T05:06:07");
    }
    request.options.now = *now;
  }
  ChatOutcome<ChatValue> messages = conversation(arguments, input);
  if (!messages) return tl::make_unexpected(std::move(messages.error()));
  request.messages = *std::move(messages);
  if (arguments.tools_file) {
    ChatOutcome<ChatValue> tools = read_json(*arguments.tools_file);
    if (!tools) return tl::make_unexpected(std::move(tools.error()));
    request.tools = *std::move(tools);
  }
  ChatOutcome<ChatValue> variables = variables_of(arguments.settings);
  if (!variables) return tl::make_unexpected(std::move(variables.error()));
  // An object holds all variables; options change them.
  if (request.messages.members() != nullptr) {
    if (arguments.tools_file) request.messages.add("tools", request.tools);
    if (arguments.has_no_generation_prompt) request.messages.add("add_generation_prompt", false);
  }
  request.options.variables = *std::move(variables);
  return request;
}

}  // namespace ingot::cli
