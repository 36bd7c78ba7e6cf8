// SPDX-License-Identifier: MIT
// `ingot detokenize MODEL ID...` -- the text of token ids.

#include <algorithm>
#include <charconv>
#include <ingot/text.hpp>
#include <ingot/tokenizer.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "cli/command.hpp"
#include "cli/json_stream.hpp"
#include "text/whole_file.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot detokenize model.gguf 1 15043 3186           # <s> Hello world\n"
    "  ingot detokenize model.gguf 1 15043 --no-special   # Hello\n"
    "  ingot tokenize model.gguf -f a | ingot detokenize model.gguf - --no-special\n"
    "\n"
    "Ids are separated by blanks, line ends or commas; brackets are passed over, so\n"
    "that a JSON array is a list of ids. The text is printed byte for byte, without a\n"
    "line end of its own; on a terminal control characters are escaped.";

struct Options {
  std::string file;
  std::vector<std::string> words;
  std::optional<std::string> input_file;
  bool is_without_special = false;
  bool cleans_spaces = false;
};

/// Whether a character stands between ids.
bool is_separator(char c) {
  return std::string_view(" \t\r\n\v\f,[]").find(c) != std::string_view::npos;
}

/// The ids that a text lists.
Result<std::vector<TokenId>> parse_ids(std::string_view text) {
  std::vector<TokenId> ids;
  const char* next = text.data();
  const char* end = next + text.size();
  for (;;) {
    next = std::find_if_not(next, end, is_separator);
    if (next == end) return ids;
    const char* word_end = std::find_if(next, end, is_separator);
    TokenId id = 0;
    const auto [parsed_end, error] = std::from_chars(next, word_end, id);
    if (error != std::errc() || parsed_end != word_end) {
      const std::string_view word(next, static_cast<std::size_t>(word_end - next));
      return fail(Errc::invalid_argument, "\"" + std::string(word.substr(0, 40)) + "\"",
                  "it is no token id");
    }
    ids.push_back(id);
    next = word_end;
  }
}

/// The ids of the arguments or of a file.
Result<std::vector<TokenId>> read_ids(const Options& options) {
  const bool reads_input = options.words.size() == 1 && options.words[0] == "-";
  if (!options.input_file && !reads_input) {
    std::string text;
    for (const std::string& word : options.words) text += word + " ";
    return parse_ids(text);
  }
  INGOT_TRY(const std::string text, read_whole(options.input_file ? *options.input_file : "-"));
  return parse_ids(text);
}

void print_text(Console& console, std::string_view text) {
  if (console.is_json()) {
    JsonStream json(console.out());
    json.begin_object(Layout::line);
    json.member("text", text);
    return json.end();
  }
  write_raw(console, text);
}

ExitCode run(const Options& options, Console& console) {
  if (options.words.empty() == !options.input_file.has_value()) {
    return console.refuse_usage("detokenize: give ids, - for standard input, or --file");
  }
  INGOT_CLI_TRY(const Model model, console.open_model(options.file), console, options.file);
  INGOT_CLI_TRY(const Vocabulary vocabulary, Vocabulary::make(model), console, options.file);
  INGOT_CLI_TRY(const std::vector<TokenId> ids, read_ids(options), console, "detokenize");
  const Result<std::string> text =
      vocabulary.decode(ids, {.remove_special = options.is_without_special,
                              .show_special = !options.is_without_special,
                              .clean_spaces = options.cleans_spaces});
  if (!text) return console.fail(options.file, text.error());
  print_text(console, *text);
  return ExitCode::done;
}

}  // namespace

void add_detokenize_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      add_command(program, "detokenize", "Turn token ids into their text", examples);
  add_file(command, options->file);
  add_argument(command, "ID", options->words, "Token ids, or - for standard input");
  add_text(command, "-f,--file", options->input_file, "FILE", "Read the ids from a file");
  add_switch(command, "--no-special", options->is_without_special,
             "Leave out bos, eos and all other control tokens");
  add_switch(command, "--clean", options->cleans_spaces,
             "Drop spaces before punctuation, which harms code");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
