// SPDX-License-Identifier: MIT
// What only the full module has: `show` and `check`, tokenizers and chat templates.
#include <ingot/chat.hpp>
#include <ingot/check.hpp>
#include <ingot/tokenizer.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "cli/command.hpp"
#include "commands/check/check_report.hpp"
#include "commands/check/chosen_rules.hpp"
#include "module.hpp"
#include "text/show_json.hpp"
#include "text/shown_keys.hpp"
#include "values.hpp"

namespace ingot::cli {
namespace {

struct ShowOptions {
  std::string file;
  bool shows_all_keys = false;
};

struct CheckOptionsOfWeb {
  std::string file;
  CheckOptions check;
  ChosenRules rules;
  bool is_strict = false;
};

ExitCode check(CheckOptionsOfWeb& options, Console& console) {
  const std::string problem = options.rules.problem(true);
  if (!problem.empty()) return console.refuse_usage("check: " + problem);
  options.check.thread_count = 1;
  options.check.is_wanted = [&](const CheckRule& rule) { return options.rules.wants(rule); };
  const auto report = make_check_report(console, false, true, options.is_strict);
  report->begin_file(options.file);
  CheckedFile checked{.file = options.file};
  INGOT_CLI_TRY(checked.summary,
                check_file(options.file, console.open_options(), options.check,
                           [&](const Finding& finding) { report->add(finding); }),
                console, options.file);
  checked.verdict = verdict_of(checked.summary, options.is_strict);
  report->end_file(checked);
  return ExitCode::done;
}

}  // namespace

void add_show_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<ShowOptions>();
  add_file(program, options->file);
  add_switch(program, "--all", options->shows_all_keys, {});
  on_run(program, [options, &console] {
    const Result<Model> model = console.open_model(options->file);
    if (!model) return console.finish(console.fail(options->file, model.error()));
    JsonStream json(console.out());
    write_show_json(json, options->file, *model, nullptr, options->shows_all_keys);
  });
}

void add_check_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<CheckOptionsOfWeb>();
  add_file(program, options->file);
  add_switch(program, "--strict", options->is_strict, {});
  add_rule_options(program, options->rules);
  add_number(program, "--limit", options->check.max_findings_per_rule, 0, 1'000'000'000, {});
  on_run(program, [options, &console] { console.finish(check(*options, console)); });
}

}  // namespace ingot::cli

using namespace ingot;

namespace ingot::web {
namespace {

std::optional<Tokenizer> tokenizer;

/// Makes the tokenizer at the first call.
Result<const Tokenizer*> find_tokenizer() {
  if (!tokenizer) {
    INGOT_TRY(tokenizer, Tokenizer::make(*opened()));
  }
  return &*tokenizer;
}

Result<std::string> render(const ChatValue& request) {
  const ChatValue* const name = request.find("name");
  const bool has_name = name != nullptr && name->string() != nullptr;
  INGOT_TRY(const ChatTemplate chat,
            ChatTemplate::make(*opened(), has_name ? std::string_view(*name->string()) : ""));
  ChatOptions options;
  if (const ChatValue* adds = request.find("addGenerationPrompt"); adds && adds->boolean()) {
    options.add_generation_prompt = *adds->boolean();
  }
  if (const ChatValue* variables = request.find("variables")) options.variables = *variables;
  const ChatValue* const now = request.find("now");
  if (now != nullptr && now->string() != nullptr) {
    INGOT_TRY(options.now, parse_chat_time(*now->string()));
  }
  const ChatValue* const messages = request.find("messages");
  const ChatValue* const tools = request.find("tools");
  INGOT_TRY(ChatText text, chat.render(messages != nullptr ? *messages : ChatValue::list(),
                                       tools != nullptr ? *tools : ChatValue(), options));
  return std::move(text.text);
}

}  // namespace
}  // namespace ingot::web

/// The ids of a text, as a list.
INGOT_WEB_EXPORT(encode)
int encode(const char* text, std::size_t text_bytes, bool add_special, bool parse_special) {
  const Result<const Tokenizer*> tokenizer = web::find_tokenizer();
  if (!tokenizer) return web::refuse(tokenizer.error());
  const auto ids = (*tokenizer)
                       ->encode({text, text_bytes},
                                {.add_special = add_special, .parse_special = parse_special});
  if (!ids) return web::refuse(ids.error());
  return web::give_json([&](cli::JsonStream& json) {
    const auto array = json.array(cli::Layout::line);
    for (const TokenId id : *ids) json.value(id);
  });
}

/// The text of ids, as its bytes.
INGOT_WEB_EXPORT(decode)
int decode(const TokenId* ids, std::size_t count, bool show_special, bool remove_special) {
  const Result<const Tokenizer*> tokenizer = web::find_tokenizer();
  if (!tokenizer) return web::refuse(tokenizer.error());
  Result<std::string> text =
      (*tokenizer)
          ->decode({ids, count}, {.remove_special = remove_special, .show_special = show_special});
  return text ? web::give(*std::move(text)) : web::refuse(text.error());
}

/// The prompt of a conversation, of the members of a request.
INGOT_WEB_EXPORT(render_chat) int render_chat(const char* request, std::size_t request_bytes) {
  const Result<ChatValue> value = web::read_value({request, request_bytes});
  if (!value) return web::refuse(value.error());
  Result<std::string> text = web::render(*value);
  return text ? web::give(*std::move(text)) : web::refuse(text.error());
}
