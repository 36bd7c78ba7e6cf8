// SPDX-License-Identifier: MIT
// `ingot chat MODEL INPUT.json` -- the prompt that a model's template makes of a conversation.

#include <algorithm>
#include <ingot/chat.hpp>
#include <ingot/chat_profile.hpp>
#include <ingot/chat_prompt.hpp>
#include <ingot/text.hpp>
#include <ingot/tokenizer.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "cli/console.hpp"
#include "cli/help.hpp"
#include "cli/json_stream.hpp"
#include "cli/table.hpp"
#include "text/chat_json.hpp"
#include "text/whole_file.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

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
  bool joins_parts = false;
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

std::string_view origin_of(const ChatRun& run) { return run.is_input ? "input" : "template"; }

std::string_view text_of(const ChatText& prompt, const ChatRun& run) {
  return std::string_view(prompt.text).substr(run.offset_bytes, run.size_bytes);
}

/// Prints each run on a line of its own: its origin and its escaped text.
void print_runs(Console& console, const ChatText& prompt) {
  constexpr std::size_t origin_columns = 10;
  for (const ChatRun& run : prompt.runs) {
    const Style style = run.is_input ? Style::accent : Style::plain;
    const std::string text = escape(text_of(prompt, run));
    console.out().print("{}{}{}\n",
                        console.paint(Style::faint, padded(origin_of(run), origin_columns)),
                        console.paint(style, text),
                        run.is_generated ? console.paint(Style::good, "  (generated)") : "");
  }
}

/// Everything as one document; ids if there are any.
void print_chat_json(Console& console, std::string_view template_name, const ChatText& prompt,
                     const ChatTokens* tokens) {
  JsonStream json(console.out());
  const auto object = json.object();
  json.member("template", template_name);
  json.text_or_base64("prompt", prompt.text);
  json.objects("runs", prompt.runs, [&](const ChatRun& run) {
    json.member("offset", run.offset_bytes);
    json.member("bytes", run.size_bytes);
    json.member("origin", origin_of(run));
    json.member("generated", run.is_generated);
  });
  if (tokens != nullptr) {
    json.values("ids", tokens->ids, Layout::line);
    // Nothing is added around the template's own bos and eos.
    json.member("adds_special", false);
    json.values("generated", tokens->is_generated, Layout::line);
  }
}

constexpr const char* examples =
    "Examples:\n"
    "  ingot chat model.gguf talk.json                   # the prompt, byte for byte\n"
    "  ingot chat model.gguf --user 'What is 2 + 2?' --system 'Be brief.'\n"
    "  ingot chat model.gguf talk.json --tools tools.json --set enable_thinking=false\n"
    "  ingot chat --template chat.jinja variables.json   # no model is needed\n"
    "  ingot chat model.gguf talk.json --ids             # token ids\n"
    "  ingot chat model.gguf talk.json --runs            # text and its origin\n"
    "\n"
    "INPUT is an array of messages, or an object of all variables: then nothing else\n"
    "is set but the model's special tokens and what options say. The prompt is what\n"
    "Hugging Face's apply_chat_template gives. In --ids, control tokens come from\n"
    "the template alone (--inputs), and no bos or eos is added to those that it\n"
    "writes. --lenient lets templates append to their own lists.\n"
    "Exit status 3: the template refuses the conversation, or fails.";

/// One run of the command.
class Chat {
 public:
  Chat(const ChatArguments& arguments, Console& console)
      : arguments_(arguments), console_(console) {}

  ExitCode run() {
    const ChatOutcome<ChatFiles> files = chat_files(arguments_);
    if (!files) return tell(files.error());
    files_ = *files;
    ChatOutcome<ChatRequest> request =
        chat_request(arguments_, files_.input, console_.open_options().is_lenient);
    if (!request) return tell(request.error());
    if (!files_.model.empty()) {
      INGOT_CLI_TRY(model_, console_.open_model(files_.model), console_, files_.model);
    }
    const Result<ChatTemplate> chat = open_template(*request);
    if (!chat) return tell(chat.error());
    remark_on(*chat, *request);
    const bool has_lists = has_parts(request->messages);
    if (has_lists &&
        (arguments_.joins_parts || !profile_chat(*chat).supports(ChatFeature::parts))) {
      request->messages = join_parts(request->messages);
    }
    const Result<ChatText> prompt = request->render(*chat);
    if (!prompt) return tell(prompt.error());
    return show(*chat, *prompt);
  }

 private:
  ExitCode tell(const ChatProblem& problem) {
    console_.complain(problem.file, problem.message);
    return problem.code;
  }

  ExitCode tell(const Error& error) {
    const std::string& subject = files_.subject(arguments_);
    if (category_of(error.code) == ErrorCategory::system) {
      return console_.refuse(subject, error.detail, ExitCode::system);
    }
    if (error.code == Errc::chat_missing) {
      console_.complain(subject, missing_text(error.subject));
    } else if (error.code == Errc::chat_raised) {
      console_.complain(subject, escape(error.detail));
    } else {
      console_.complain(subject, chat_error_text(error));
    }
    return ExitCode::refused;
  }

  [[nodiscard]] std::string missing_text(const std::string& name) const {
    const std::vector<std::string> names = chat_template_names(*model_);
    if (names.empty()) return "it has no chat template; --template FILE takes one from elsewhere";
    if (name.empty()) return "it has no default chat template; --name takes one of the others";
    return "it has no chat template \"" + escape(name) + "\"" + suggest(name, names);
  }

  [[nodiscard]] Result<ChatTemplate> open_template(const ChatRequest& request) {
    if (!arguments_.template_file) return ChatTemplate::make(*model_, template_name(request));
    INGOT_TRY(std::string source, read_whole(*arguments_.template_file));
    return model_ ? ChatTemplate::make(*model_, std::move(source), std::string())
                  : ChatTemplate::make(std::move(source));
  }

  /// The requested template; with tools, the one for tools if there is one.
  [[nodiscard]] std::string template_name(const ChatRequest& request) const {
    if (arguments_.name) return *arguments_.name;
    const ChatValue* tools =
        request.messages.members() != nullptr ? request.messages.find("tools") : &request.tools;
    const bool has_tools = tools != nullptr && tools->elements() != nullptr;
    const std::vector<std::string> names = chat_template_names(*model_);
    const bool is_there = std::find(names.begin(), names.end(), "tool_use") != names.end();
    return has_tools && is_there ? "tool_use" : "";
  }

  /// An object without the flag ends without the beginning of an answer, which few people want.
  void remark_on(const ChatTemplate& chat, const ChatRequest& request) {
    constexpr std::string_view flag = "add_generation_prompt";
    const bool is_given = request.messages.members() == nullptr ||
                          request.messages.find(flag) != nullptr ||
                          request.options.variables.find(flag) != nullptr;
    const std::vector<std::string> read = chat.variables();
    if (is_given || std::find(read.begin(), read.end(), flag) == read.end()) return;
    console_.remark(files_.input,
                    "it does not set add_generation_prompt, so the prompt ends behind the last "
                    "message; --set add_generation_prompt=true");
  }

  ExitCode show(const ChatTemplate& chat, const ChatText& prompt) {
    ChatTokens tokens;
    if (arguments_.wants_ids) {
      INGOT_CLI_TRY(const Tokenizer tokenizer, Tokenizer::make(*model_), console_, files_.model);
      INGOT_CLI_TRY(tokens, encode_chat_text(tokenizer, prompt, {.inputs = arguments_.inputs}),
                    console_, files_.model);
    }
    if (console_.is_json()) {
      print_chat_json(console_, chat.name(), prompt, arguments_.wants_ids ? &tokens : nullptr);
    } else if (arguments_.wants_runs) {
      print_runs(console_, prompt);
    } else if (arguments_.wants_ids) {
      console_.out().print("{}\n", joined(tokens.ids));
    } else {
      write_raw(console_, prompt.text);
    }
    return ExitCode::done;
  }

  const ChatArguments& arguments_;
  Console& console_;
  ChatFiles files_;
  std::optional<Model> model_;
};

}  // namespace

void add_chat_command(CLI::App& program, Console& console) {
  auto arguments = std::make_shared<ChatArguments>();
  CLI::App& command =
      add_command(program, "chat", "Render a conversation as the prompt of a model", examples);
  add_argument(
      command, "FILE", arguments->files,
      "MODEL and INPUT, a file of JSON or - for standard input; INPUT alone with --template");
  add_text(command, "--template", arguments->template_file, "FILE",
           "A template from a file instead of the model's");
  add_text(command, "--name", arguments->name, "NAME",
           "Another template of the model; default: tool_use with tools if there is one");
  add_text(command, "--user", arguments->user, "TEXT", "One message of a user instead of INPUT");
  add_text(command, "--system", arguments->system, "TEXT", "A system message before it");
  add_text(command, "--tools", arguments->tools_file, "FILE", "Tools, a JSON array");
  add_texts(command, "--set", arguments->settings, "NAME=JSON", "Set a variable of the template");
  add_switch(command, "--no-generation-prompt", arguments->has_no_generation_prompt,
             "End behind the last message, not with the beginning of an answer");
  add_text(command, "--now", arguments->now, "TIME",
           "The local time that the template sees, like 2025-07-04T05:06:07");
  add_switch(command, "--ids", arguments->wants_ids, "Print token ids instead of the text");
  add_choice(command, "--inputs", "WORD", arguments->inputs,
             {{"plain", InputTokens::plain},
              {"apart", InputTokens::apart},
              {"trusted", InputTokens::trusted}},
             "How text of messages becomes ids, {}: without control tokens; also without tokens "
             "that hold text of the template, too; as any other text");
  add_switch(command, "--join-parts", arguments->joins_parts,
             "Make one text of a list of parts, <__media__> for images and sounds, as llama.cpp "
             "does; always so where the template takes texts alone");
  add_switch(command, "--runs", arguments->wants_runs,
             "Print which text came from the template and which from inputs");
  on_run(command, [arguments, &console] { console.finish(Chat(*arguments, console).run()); });
}

}  // namespace ingot::cli
