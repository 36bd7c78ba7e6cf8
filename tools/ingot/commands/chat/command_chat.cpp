// SPDX-License-Identifier: MIT
// `ingot chat MODEL INPUT.json` -- the prompt that a model's template makes of a conversation.

#include <algorithm>
#include <ingot/chat_prompt.hpp>
#include <ingot/text.hpp>
#include <ingot/tokenizer.hpp>
#include <memory>

#include "cli/command.hpp"
#include "cli/help.hpp"
#include "commands/chat/chat_input.hpp"
#include "commands/chat/chat_output.hpp"
#include "text/whole_file.hpp"

namespace ingot::cli {
namespace {

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
    const ChatOutcome<ChatRequest> request =
        chat_request(arguments_, files_.input, console_.open_options().is_lenient);
    if (!request) return tell(request.error());
    if (!files_.model.empty()) {
      INGOT_CLI_TRY(model_, console_.open_model(files_.model), console_, files_.model);
    }
    const Result<ChatTemplate> chat = open_template(*request);
    if (!chat) return tell(chat.error());
    remark_on(*chat, *request);
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
      print_ids(console_, tokens);
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
  add_switch(command, "--runs", arguments->wants_runs,
             "Print which text came from the template and which from inputs");
  on_run(command, [arguments, &console] { console.finish(Chat(*arguments, console).run()); });
}

}  // namespace ingot::cli
