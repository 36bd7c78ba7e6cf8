// SPDX-License-Identifier: MIT
// `ingot vocab MODEL` -- the tokens of a model, one a line.

#include <fmt/format.h>

#include <algorithm>
#include <ingot/text.hpp>
#include <ingot/tokenizer.hpp>
#include <ingot/vocabulary_statistics.hpp>
#include <memory>
#include <optional>

#include "cli/command.hpp"
#include "cli/json_stream.hpp"
#include "cli/table.hpp"
#include "commands/json_members.hpp"
#include "text/name_match.hpp"
#include "text/vocabulary_facts.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot vocab model.gguf | less\n"
    "  ingot vocab model.gguf --tsv > vocab.tsv       # id, text, type, score\n"
    "  ingot vocab model.gguf --grep '<|'             # tokens that hold a text\n"
    "  ingot vocab model.gguf --grep '<|*|>'          # a glob of the whole token\n"
    "  ingot vocab model.gguf --find ' the'           # the token of a text\n"
    "  ingot vocab model.gguf --stats\n"
    "\n"
    "Each line has the id and the token as the file spells it, control characters\n"
    "escaped.\n"
    "--grep and --find also look at the text that a token stands for: the token of\n"
    "a space is found by a space.\n"
    "Exit status 1: no token matches.";

struct Options {
  std::string file;
  std::optional<std::string> part;
  std::optional<std::string> text;
  NameMatcher pattern;      ///< Of `part`, if that is one.
  std::uint64_t limit = 0;  ///< 0: all.
  bool wants_table = false;
  bool wants_statistics = false;
};

/// Whether a token is one that the user asked for.
bool is_wanted(const Options& options, const Vocabulary& vocabulary, TokenId id) {
  if (!options.part && !options.text) return true;
  const std::string_view spelling = vocabulary.text(id);
  const std::string piece = vocabulary.piece(id);
  if (options.text) return spelling == *options.text || piece == *options.text;
  if (options.pattern) return options.pattern(spelling) || options.pattern(piece);
  return spelling.find(*options.part) != std::string_view::npos ||
         piece.find(*options.part) != std::string::npos;
}

void print_row(Console& console, const Options& options, const Vocabulary& vocabulary, TokenId id) {
  const std::string text = escape(vocabulary.text(id));
  const bool shows_facts = options.wants_table || options.part || options.text;
  if (!shows_facts) return console.out().print("{}\t{}\n", id, text);
  console.out().print("{}\t{}\t{}\t{}\n", id, text, name_of(vocabulary.kind(id)),
                      format_float(vocabulary.score(id)));
}

void write_row(JsonStream& json, const Vocabulary& vocabulary, TokenId id) {
  const std::string_view text = vocabulary.text(id);
  const auto object = json.object(Layout::line);
  json.member("id", id);
  json.text_or_base64("text", text);
  json.member("type", name_of(vocabulary.kind(id)));
  json.member("score", static_cast<double>(vocabulary.score(id)));
}

ExitCode list_tokens(const Options& options, Console& console, const Vocabulary& vocabulary) {
  JsonStream json(console.out());
  if (console.is_json()) json.begin_array();
  std::uint64_t count = 0;
  bool has_match = !options.part && !options.text;
  for (TokenId id = 0; vocabulary.contains(id) && console.out().is_open(); ++id) {
    if (!is_wanted(options, vocabulary, id)) continue;
    has_match = true;
    if (options.limit != 0 && count++ == options.limit) break;
    if (console.is_json()) {
      write_row(json, vocabulary, id);
    } else {
      print_row(console, options, vocabulary, id);
    }
  }
  if (console.is_json()) json.end();
  return has_match ? ExitCode::done : ExitCode::negative;
}

constexpr std::size_t label_columns = 14;
constexpr std::size_t listed_tokens = 5;
constexpr std::size_t listed_bytes = 16;

void print_line(Console& console, std::string_view label, std::string_view text) {
  console.print_prose(console.paint(Style::faint, padded(label, label_columns)) + std::string(text),
                      Style::plain, label_columns);
}

std::string token_text(const Console& console, const Vocabulary& vocabulary, TokenId id) {
  return fmt::format("{} \"{}\"", id, escape_shortened(vocabulary.text(id), console.part(40)));
}

std::string list_text(const Console& console, const Vocabulary& vocabulary,
                      std::span<const TokenId> ids) {
  std::string text;
  for (const TokenId id : ids.first(std::min(ids.size(), listed_tokens))) {
    text += (text.empty() ? "" : ", ") + token_text(console, vocabulary, id);
  }
  return text + (ids.size() > listed_tokens ? ", ..." : "");
}

std::string bytes_text(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (const std::uint8_t byte : bytes.first(std::min(bytes.size(), listed_bytes))) {
    text += fmt::format(" {:02X}", byte);
  }
  return text + (bytes.size() > listed_bytes ? " ..." : "");
}

void print_statistics(Console& console, const Vocabulary& vocabulary) {
  const VocabularyStatistics statistics = compute_statistics(vocabulary);
  print_line(console, "family", name_of(statistics.family));
  const std::string pre = pre_tokenizer_text(statistics.model, statistics.pre);
  if (!pre.empty()) print_line(console, "split", pre);
  print_line(console, "tokens",
             fmt::format("{}, {} of text", format_digits(statistics.tokens),
                         format_bytes(statistics.text_bytes)));
  for (const auto& [kind, count] : statistics.types) {
    if (count > 0) print_line(console, "  " + kind, format_digits(count));
  }
  if (statistics.longest) {
    print_line(console, "longest",
               fmt::format("{}, {}", token_text(console, vocabulary, *statistics.longest),
                           format_bytes(vocabulary.text(*statistics.longest).size())));
  }
  print_line(console, "repeated",
             statistics.repeated.empty()
                 ? "none"
                 : fmt::format("{}: {}", format_digits(statistics.repeated.size()),
                               list_text(console, vocabulary, statistics.repeated)));
  print_line(console, "bytes missing",
             statistics.missing_bytes.empty()
                 ? "none"
                 : fmt::format("{}:{}", statistics.missing_bytes.size(),
                               bytes_text(statistics.missing_bytes)));
  for (const auto& [name, id] : statistics.special_tokens) {
    print_line(console, name, token_text(console, vocabulary, id));
  }
  if (!statistics.end_of_generation.empty()) {
    print_line(console, "ends with", list_text(console, vocabulary, statistics.end_of_generation));
  }
}

/// Whether a text of --grep is a pattern: many tokens hold brackets, question marks, or are a star.
bool is_pattern(const std::string& text) {
  return text.starts_with("re:") || (text.size() > 1 && text.find('*') != std::string::npos);
}

ExitCode run(Options& options, Console& console) {
  if (int{options.part.has_value()} + int{options.text.has_value()} +
          int{options.wants_statistics} >
      1) {
    return console.refuse_usage("vocab: give one of --grep, --find, --stats");
  }
  if (options.part && is_pattern(*options.part)) options.pattern = name_matcher(*options.part);
  INGOT_CLI_TRY(const Model model, console.open_model(options.file), console, options.file);
  INGOT_CLI_TRY(const Vocabulary vocabulary, Vocabulary::make(model), console, options.file);
  if (!options.wants_statistics) return list_tokens(options, console, vocabulary);
  if (console.is_json()) {
    JsonStream json(console.out());
    const auto object = json.object();
    write_members(json, compute_statistics(vocabulary));
  } else {
    print_statistics(console, vocabulary);
  }
  return ExitCode::done;
}

}  // namespace

void add_vocab_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = add_command(program, "vocab", "List the tokens of a model", examples);
  add_file(command, options->file);
  add_switch(command, "--tsv", options->wants_table,
             "Print id, text, type and score, with tabs between");
  add_text(command, "--grep", options->part, "TEXT",
           "Only tokens that hold TEXT, or that a glob with * or re:EXPRESSION fits");
  add_text(command, "--find", options->text, "TEXT", "Only the tokens that are TEXT");
  add_number(command, "--limit", options->limit, 0, 1u << 31,
             "Tokens to print, 0 for all; default: 0");
  add_switch(command, "--stats", options->wants_statistics,
             "Print how many of each type, the longest, repeated ones, bytes without a token");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
