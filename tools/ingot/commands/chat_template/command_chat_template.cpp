// SPDX-License-Identifier: MIT
// `ingot chat-template MODEL` -- the template that makes prompts of conversations.

#include <ingot/chat.hpp>
#include <ingot/text.hpp>
#include <ingot/tokenizer.hpp>
#include <memory>

#include "cli/command.hpp"
#include "cli/help.hpp"
#include "cli/json_stream.hpp"
#include "cli/table.hpp"
#include "commands/chat_template/ollama_template.hpp"
#include "text/whole_file.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot chat-template model.gguf > template.jinja\n"
    "  ingot chat-template model.gguf --list\n"
    "  ingot chat-template model.gguf --name tool_use\n"
    "  ingot chat-template model.gguf --format ollama >> Modelfile\n"
    "\n"
    "Prints the bytes of the template and nothing else. `ingot chat` renders it.\n"
    "--format ollama writes the template anew in the language of Ollama's Modelfile,\n"
    "and only if both make the same prompts of some conversations. What it has no\n"
    "words for, as tools, is left out, and named.\n"
    "Exit status 1: there is no such template, or that language cannot say it.";

enum class Format : std::uint8_t { jinja, ollama };

struct Options {
  std::string file;
  std::string name;
  bool lists = false;
  Format format = Format::jinja;
};

/// The name of a template for users; the default template has none of its own.
std::string shown_name(std::string_view name) {
  return name.empty() ? "default" : escape_shortened(name, 60);
}

ExitCode list(Console& console, const Model& model) {
  const std::vector<std::string> names = chat_template_names(model);
  const auto source_of = [&](const std::string& name) {
    return model.get<std::string_view>(chat_template_key(name)).value_or("");
  };
  if (console.is_json()) {
    JsonStream json(console.out());
    json.objects(names, [&](const std::string& name) {
      json.member("name", name);
      json.member("key", chat_template_key(name));
      json.member("bytes", source_of(name).size());
    });
    return names.empty() ? ExitCode::negative : ExitCode::done;
  }
  const std::vector<Column> columns = {{"name", Align::left}, {"bytes", Align::right}};
  print_table(console, columns, names.size(), [&](std::size_t row, std::span<std::string> cells) {
    cells[0] = shown_name(names[row]);
    cells[1] = format_digits(source_of(names[row]).size());
  });
  return names.empty() ? ExitCode::negative : ExitCode::done;
}

ExitCode refuse_missing(Console& console, const Options& options, const Model& model) {
  const std::vector<std::string> names = chat_template_names(model);
  if (names.empty()) {
    console.complain(options.file, "it has no chat template");
  } else if (options.name.empty()) {
    console.complain(options.file, "it has no default chat template; --list names the others");
  } else {
    console.complain(options.file, "it has no chat template \"" + escape(options.name) + "\"" +
                                       suggest(options.name, names));
  }
  return ExitCode::negative;
}

/// The text that Ollama's engine puts before every prompt, as the tokenizer of the model wants it.
std::string text_before_prompts(const Model& model) {
  const Result<Tokenizer> tokenizer = Tokenizer::make(model);
  if (!tokenizer || !tokenizer->flags().adds_bos) return {};
  const auto begin = ChatTemplate::make(model, "{{ bos_token }}", "");
  const auto text = begin ? begin->render(ChatValue::list()) : Result<ChatText>();
  return text ? text->text : std::string();
}

ExitCode print_for_ollama(Console& console, const Options& options, const Model& model) {
  INGOT_CLI_TRY(const ChatTemplate chat, ChatTemplate::make(model, options.name), console,
                options.file);
  const auto written = write_ollama_template(chat, text_before_prompts(model));
  if (!written) {
    console.complain(options.file, "no template for Ollama: " + written.error());
    return ExitCode::negative;
  }
  if (console.is_json()) {
    JsonStream json(console.out());
    json.begin_object();
    json.member("name", options.name);
    json.member("format", "ollama");
    json.text_or_base64("template", written->source);
    json.values("left_out", written->left_out);
    json.member("keeps_blanks", written->keeps_blanks);
    json.end();
    return ExitCode::done;
  }
  if (!written->left_out.empty()) {
    console.remark(options.file, "left out: " + joined(written->left_out, ", "));
  }
  if (written->keeps_blanks) {
    console.remark(options.file,
                   "blanks around a message stay, which the template strips; Ollama cannot");
  }
  write_raw(console, "TEMPLATE \"\"\"" + written->source + "\"\"\"\n");
  return ExitCode::done;
}

ExitCode run(const Options& options, Console& console) {
  INGOT_CLI_TRY(const Model model, console.open_model(options.file), console, options.file);
  if (options.lists) return list(console, model);
  const Value* value = model.find(chat_template_key(options.name));
  if (value == nullptr) return refuse_missing(console, options, model);
  if (options.format == Format::ollama) return print_for_ollama(console, options, model);
  INGOT_CLI_TRY(const std::string_view source, value->get<std::string_view>(), console,
                options.file);
  if (!console.is_json()) {
    write_raw(console, source);
    return ExitCode::done;
  }
  JsonStream json(console.out());
  json.begin_object();
  json.member("name", options.name);
  json.text_or_base64("template", source);
  json.end();
  return ExitCode::done;
}

}  // namespace

void add_chat_template_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      add_command(program, "chat-template", "Print the chat template of a model", examples);
  add_file(command, options->file);
  add_text(command, "--name", options->name, "NAME", "Another template than the default one");
  add_switch(command, "--list", options->lists, "List the templates of the model");
  add_choice(command, "--format", "FORMAT", options->format,
             {{"jinja", Format::jinja}, {"ollama", Format::ollama}},
             "Language to write it in: {} (default: jinja)");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
