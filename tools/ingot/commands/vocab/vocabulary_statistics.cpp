// SPDX-License-Identifier: MIT
#include "commands/vocab/vocabulary_statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ingot/text.hpp>
#include <string>
#include <vector>

#include "cli/table.hpp"
#include "text/vocabulary_facts.hpp"

namespace ingot::cli {
namespace {

constexpr std::size_t label_columns = 14;
constexpr std::size_t listed_tokens = 5;
constexpr std::size_t kind_count = static_cast<std::size_t>(TokenKind::byte) + 1;

struct Statistics {
  std::array<std::uint64_t, kind_count> kinds = {};
  TokenId longest = no_token;
  std::uint64_t total_bytes = 0;
  std::vector<TokenId> repeated;  ///< Tokens whose text a lower id has.
  std::vector<std::uint8_t> missing_bytes;
};

Statistics count_tokens(const Vocabulary& vocabulary) {
  Statistics result;
  for (TokenId id = 0; vocabulary.contains(id); ++id) {
    const std::string_view text = vocabulary.text(id);
    ++result.kinds[static_cast<std::size_t>(vocabulary.kind(id))];
    result.total_bytes += text.size();
    const bool is_longest =
        result.longest == no_token || text.size() > vocabulary.text(result.longest).size();
    if (is_longest) result.longest = id;
    if (!text.empty() && vocabulary.find(text) != id) result.repeated.push_back(id);
  }
  result.missing_bytes = vocabulary.missing_bytes();
  return result;
}

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
  for (const std::uint8_t byte : bytes.first(std::min<std::size_t>(bytes.size(), 16))) {
    text += fmt::format(" {:02X}", byte);
  }
  return text + (bytes.size() > 16 ? " ..." : "");
}

void print_special(Console& console, const Vocabulary& vocabulary) {
  for (std::size_t i = 0; i < special_token_count; ++i) {
    const TokenId id = vocabulary.special(static_cast<SpecialToken>(i));
    if (id == no_token) continue;
    print_line(console, name_of(static_cast<SpecialToken>(i)), token_text(console, vocabulary, id));
  }
  if (!vocabulary.end_of_generation().empty()) {
    print_line(console, "ends with",
               list_text(console, vocabulary, vocabulary.end_of_generation()));
  }
}

void print_page(Console& console, const Vocabulary& vocabulary, const Statistics& statistics) {
  print_line(console, "family", name_of(vocabulary.family()));
  const std::string pre = pre_tokenizer_text(vocabulary.model_name(), vocabulary.pre_tokenizer());
  if (!pre.empty()) print_line(console, "split", pre);
  print_line(console, "tokens",
             fmt::format("{}, {} of text", format_digits(vocabulary.size()),
                         format_bytes(statistics.total_bytes)));
  for (std::size_t kind = 0; kind < kind_count; ++kind) {
    if (statistics.kinds[kind] == 0) continue;
    print_line(console, "  " + std::string(name_of(static_cast<TokenKind>(kind))),
               format_digits(statistics.kinds[kind]));
  }
  if (statistics.longest != no_token) {
    print_line(console, "longest",
               fmt::format("{}, {}", token_text(console, vocabulary, statistics.longest),
                           format_bytes(vocabulary.text(statistics.longest).size())));
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
  print_special(console, vocabulary);
}

void write_statistics(JsonStream& json, const Vocabulary& vocabulary,
                      const Statistics& statistics) {
  const auto object = json.object();
  json.member("family", name_of(vocabulary.family()));
  json.member("model", vocabulary.model_name());
  json.member("pre", vocabulary.pre_tokenizer());
  json.member("pre_known",
              knows_pre_tokenizer(vocabulary.model_name(), vocabulary.pre_tokenizer()));
  json.member("tokens", vocabulary.size());
  json.member("text_bytes", statistics.total_bytes);
  json.begin_object("types", Layout::line);
  for (std::size_t kind = 0; kind < kind_count; ++kind) {
    json.member(name_of(static_cast<TokenKind>(kind)), statistics.kinds[kind]);
  }
  json.end();
  json.member_if(statistics.longest != no_token, "longest", statistics.longest);
  json.values("repeated", statistics.repeated, Layout::line);
  json.values("missing_bytes", statistics.missing_bytes, Layout::line);
  json.begin_object("special_tokens", Layout::line);
  for (std::size_t i = 0; i < special_token_count; ++i) {
    const TokenId id = vocabulary.special(static_cast<SpecialToken>(i));
    if (id != no_token) json.member(name_of(static_cast<SpecialToken>(i)), id);
  }
  json.end();
  json.values("end_of_generation", vocabulary.end_of_generation(), Layout::line);
}

}  // namespace

void write_statistics(JsonStream& json, const Vocabulary& vocabulary) {
  write_statistics(json, vocabulary, count_tokens(vocabulary));
}

void print_statistics(Console& console, const Vocabulary& vocabulary) {
  if (console.is_json()) {
    JsonStream json(console.out());
    write_statistics(json, vocabulary);
  } else {
    print_page(console, vocabulary, count_tokens(vocabulary));
  }
}

}  // namespace ingot::cli
