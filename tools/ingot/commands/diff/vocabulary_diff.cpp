// SPDX-License-Identifier: MIT
#include "commands/diff/vocabulary_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <ingot/text.hpp>
#include <ingot/tokenizer.hpp>
#include <optional>
#include <vector>

#include "text/vocabulary_facts.hpp"

namespace ingot::cli {
namespace {

/// Tokens of each kind of difference that are listed, unless --verbose is given.
constexpr std::size_t listed_tokens = 5;

/// A text that both have, with other ids, types or scores.
struct ChangedToken {
  TokenId a = no_token;
  TokenId b = no_token;
};

struct VocabularyDifference {
  Vocabulary a;
  Vocabulary b;
  std::vector<TokenId> removed;  ///< Ids in a.
  std::vector<TokenId> added;    ///< Ids in b.
  std::vector<ChangedToken> changed;

  [[nodiscard]] bool is_same() const { return removed.empty() && added.empty() && changed.empty(); }
};

std::optional<VocabularyDifference> compare(const Model& a, const Model& b) {
  const Result<Vocabulary> of_a = Vocabulary::make(a);
  const Result<Vocabulary> of_b = Vocabulary::make(b);
  if (!of_a || !of_b) return std::nullopt;
  VocabularyDifference result{*of_a, *of_b, {}, {}, {}};
  for_each_text(result.a, [&](TokenId id, std::string_view text) {
    const TokenId other = result.b.find(text);
    if (other == no_token) {
      result.removed.push_back(id);
      return;
    }
    const auto bits = [](float score) { return std::bit_cast<std::uint32_t>(score); };
    const bool is_same = other == id && result.a.kind(id) == result.b.kind(other) &&
                         bits(result.a.score(id)) == bits(result.b.score(other));
    if (!is_same) result.changed.push_back({id, other});
  });
  for_each_text(result.b, [&](TokenId id, std::string_view text) {
    if (result.a.find(text) == no_token) result.added.push_back(id);
  });
  return result;
}

std::string facts_of(const Vocabulary& vocabulary, TokenId id) {
  return fmt::format("{}, {}, {}", id, name_of(vocabulary.kind(id)),
                     format_float(vocabulary.score(id)));
}

std::string quoted(const Console& console, const Vocabulary& vocabulary, TokenId id) {
  return "\"" + escape_shortened(vocabulary.text(id), console.part(40)) + "\"";
}

template <class Item, class Print>
void print_some(Console& console, const std::vector<Item>& items, const Print& print) {
  const std::size_t shown =
      console.is_verbose() ? items.size() : std::min(items.size(), listed_tokens);
  for (std::size_t i = 0; i < shown && console.out().is_open(); ++i) print(items[i]);
  if (shown != items.size()) {
    console.out().print("  ... and {} more; -v lists all\n", items.size() - shown);
  }
}

void write_ids(JsonStream& json, const char* name, const Vocabulary& vocabulary,
               const std::vector<TokenId>& ids) {
  json.objects(name, ids, [&](const TokenId id) {
    json.member("id", id);
    json.member("text", vocabulary.text(id));
  });
}

}  // namespace

std::string paint_sign(const Console& console, DiffSign sign) {
  const Style style = sign == DiffSign::removed ? Style::bad
                      : sign == DiffSign::added ? Style::good
                                                : Style::warning;
  const char text = static_cast<char>(sign);
  return console.paint(style, {&text, 1}) + " ";
}

void print_vocabulary_difference(Console& console, const Model& a, const Model& b) {
  const std::optional<VocabularyDifference> difference = compare(a, b);
  if (!difference || difference->is_same()) return;
  const auto print = [&console](DiffSign sign, std::string_view text) {
    console.print_prose(paint_sign(console, sign) + std::string(text), Style::plain, 2);
  };
  print(DiffSign::changed, fmt::format("vocabulary: {} tokens removed, {} added, {} changed",
                                       difference->removed.size(), difference->added.size(),
                                       difference->changed.size()));
  print_some(console, difference->removed, [&](TokenId id) {
    print(DiffSign::removed, fmt::format("token {} ({})", quoted(console, difference->a, id),
                                         facts_of(difference->a, id)));
  });
  print_some(console, difference->added, [&](TokenId id) {
    print(DiffSign::added, fmt::format("token {} ({})", quoted(console, difference->b, id),
                                       facts_of(difference->b, id)));
  });
  print_some(console, difference->changed, [&](const ChangedToken& token) {
    print(DiffSign::changed,
          fmt::format("token {}: {} -> {}", quoted(console, difference->a, token.a),
                      facts_of(difference->a, token.a), facts_of(difference->b, token.b)));
  });
}

void write_vocabulary_difference(JsonStream& json, const Model& a, const Model& b) {
  const std::optional<VocabularyDifference> difference = compare(a, b);
  json.key("vocabulary");
  if (!difference) return json.null();
  const auto object = json.object();
  write_ids(json, "removed", difference->a, difference->removed);
  write_ids(json, "added", difference->b, difference->added);
  json.objects("changed", difference->changed, [&](const ChangedToken& token) {
    json.member("text", difference->a.text(token.a));
    json.member("id_a", token.a);
    json.member("id_b", token.b);
    json.member("type_a", name_of(difference->a.kind(token.a)));
    json.member("type_b", name_of(difference->b.kind(token.b)));
    json.member("score_a", static_cast<double>(difference->a.score(token.a)));
    json.member("score_b", static_cast<double>(difference->b.score(token.b)));
  });
}

}  // namespace ingot::cli
