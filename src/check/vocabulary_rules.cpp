// SPDX-License-Identifier: MIT
// Rules about what a vocabulary makes of texts: rules that need the tokens in their families.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/hexadecimal.hpp"
#include "base/messages.hpp"
#include "base/ranges.hpp"
#include "check/rules.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/text.hpp"
#include "tokenizer/vocabulary/byte_alphabet.hpp"

namespace ingot::check::rules {
namespace {

/// `3 ("abc")`
std::string named(const Vocabulary& vocabulary, TokenId id) {
  return std::to_string(id) + " (" + in_quotes(vocabulary.text(id)) + ")";
}

/// Calls use(id) for every token.
template <class Use>
void for_each_token(const Vocabulary& vocabulary, const Use& use) {
  for (TokenId id = 0; vocabulary.contains(id); ++id) use(id);
}

/// How many there are of something, and the first of them.
struct Tally {
  std::uint64_t count = 0;
  std::string first;

  template <class Describe>
  void add(const Describe& describe) {
    if (count++ == 0) first = describe();
  }
  /// "3 tokens", a text, and the first of them; nothing if there are none.
  void report(Inspection& inspection, std::string_view key, std::string_view noun,
              std::string_view text) const {
    if (count != 0) inspection.report_key(key, plural(count, noun).append(text).append(first));
  }
};

/// "; llama with 128256 tokens is usually llama-bpe", if that is known.
std::string hint_for(std::string_view architecture, std::size_t token_count) {
  struct Hint {
    std::string_view architecture;
    std::size_t token_count;
    std::string_view pre;
  };
  static constexpr Hint hints[] = {
#define INGOT_PRE_HINT(architecture, token_count, pre) {architecture, token_count, pre},
#include "check/pre_hints.def"
#undef INGOT_PRE_HINT
  };
  for (const Hint& hint : hints) {
    if (hint.architecture != architecture || hint.token_count != token_count) continue;
    return "; " + std::string(architecture) + " with " + std::to_string(token_count) +
           " tokens is usually \"" + std::string(hint.pre) + "\"";
  }
  return {};
}

/// Whether a text is written as special tokens are: "<|im_end|>", "[EOT]", "_<EOT>".
bool is_marked(std::string_view text) noexcept {
  return text.find_first_of("<[") != text.npos && text.find_last_of(">]") != text.npos;
}

/// The names of special tokens whose key is not in the file.
struct TokenNames {
  SpecialToken special;
  std::vector<TokenId> ids;  // those in the vocabulary, in the order in which they are looked for
};

std::vector<TokenNames> names_in(const Vocabulary& vocabulary) {
  std::vector<TokenNames> names;
  const auto add = [&](SpecialToken special, std::string_view text) {
    if (names.empty() || names.back().special != special) names.push_back({special, {}});
    const TokenId id = vocabulary.find(text);
    if (id != no_token) names.back().ids.push_back(id);
  };
#define INGOT_TOKEN_NAME(special, text) add(SpecialToken::special, text);
#define INGOT_END_NAME(text)
#define INGOT_USER_NAME(text)
#include "tokenizer/vocabulary/token_names.def"
  return names;
}

bool has_key(const Model& model, SpecialToken special) {
  const auto is_there = [&](std::string_view key) {
    return !key.empty() && model.find(token_id_key(key)) != nullptr;
  };
  switch (special) {
#define INGOT_SPECIAL_TOKEN(enumerator, constant, key, older_key, description) \
  case SpecialToken::enumerator:                                               \
    return is_there(key) || is_there(older_key);
#include "ingot/special_tokens.def"
  }
  return false;
}

}  // namespace

void tokenizer_unusable(Inspection& inspection) {
  const Value* name = inspection.model().find(keys::tokenizer_ggml_model);
  if (name == nullptr) return;
  const std::string_view family = name->get<std::string_view>().value_or("");
  if (family == "none" || family == "no_vocab") return;
  if (const auto error = inspection.vocabulary_error()) {
    inspection.report_key(keys::tokenizer_ggml_model, error->message());
  }
}

void pre_missing(Inspection& inspection) {
  const Vocabulary* vocabulary = inspection.vocabulary();
  if (vocabulary == nullptr || vocabulary->family() != TokenizerFamily::bpe) return;
  if (!vocabulary->pre_tokenizer().empty()) return;
  inspection.report_key(keys::tokenizer_ggml_model,
                        "without tokenizer.ggml.pre texts are cut as for \"default\"" +
                            hint_for(inspection.architecture(), vocabulary->size()));
}

void pre_unknown(Inspection& inspection) {
  const Vocabulary* vocabulary = inspection.vocabulary();
  if (vocabulary == nullptr || vocabulary->family() != TokenizerFamily::bpe) return;
  const std::string_view pre = vocabulary->pre_tokenizer();
  if (pre.empty() || std::ranges::binary_search(known_pre_tokenizers(), pre)) return;
  inspection.report_key(
      keys::tokenizer_ggml_pre,
      "it is " + in_quotes(pre) + hint_for(inspection.architecture(), vocabulary->size()));
}

void token_duplicate(Inspection& inspection) {
  const Vocabulary* vocabulary = inspection.vocabulary();
  if (vocabulary == nullptr || !vocabulary->has_equal_texts()) return;
  Tally repeated;
  for_each_token(*vocabulary, [&](TokenId id) {
    const TokenId first = vocabulary->find(vocabulary->text(id));
    if (first == id) return;
    repeated.add([&] { return named(*vocabulary, id) + " is also " + std::to_string(first); });
  });
  repeated.report(inspection, keys::tokenizer_ggml_tokens, "token", " repeat a text: ");
}

void merge_unknown(Inspection& inspection) {
  const Vocabulary* vocabulary = inspection.vocabulary();
  const Value* value = inspection.model().find(keys::tokenizer_ggml_merges);
  if (vocabulary == nullptr || vocabulary->family() != TokenizerFamily::bpe) return;
  if (value == nullptr || value->as_array().element_type() != ValueType::string) return;
  // Making the tokenizer has looked all of them up already.
  const Tokenizer* tokenizer = inspection.tokenizer();
  if (tokenizer != nullptr && !tokenizer->has_unknown_merges()) return;
  Tally unknown;
  std::string product;
  for (const Value& merge : value->as_array()) {
    const std::string_view text = merge.get<std::string_view>().value_or("");
    const std::size_t space = text.find(' ', 1);
    if (space != text.npos) {
      product.assign(text.substr(0, space)).append(text.substr(space + 1));
      const bool is_known = vocabulary->find(text.substr(0, space)) != no_token &&
                            vocabulary->find(text.substr(space + 1)) != no_token &&
                            vocabulary->find(product) != no_token;
      if (is_known) continue;
    }
    unknown.add([&] { return in_quotes(text); });
  }
  unknown.report(inspection, keys::tokenizer_ggml_merges, "merge",
                 " of texts that are no tokens, the first is ");
}

void byte_missing(Inspection& inspection) {
  const Vocabulary* vocabulary = inspection.vocabulary();
  if (vocabulary == nullptr) return;
  const std::vector<std::uint8_t> missing = vocabulary->missing_bytes();
  if (missing.empty()) return;
  constexpr std::size_t shown_bytes = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(missing.size(), shown_bytes); ++i) {
    list += " " + hexadecimal(missing[i], 2, upper_hexadecimal_digits);
  }
  if (missing.size() > shown_bytes) list += " ...";
  inspection.report_key(keys::tokenizer_ggml_tokens,
                        "no token stands for " + plural(missing.size(), "byte") + " (hex):" + list);
}

void token_spelling(Inspection& inspection) {
  const Vocabulary* vocabulary = inspection.vocabulary();
  if (vocabulary == nullptr || vocabulary->family() != TokenizerFamily::bpe) return;
  Tally bad;
  for_each_token(*vocabulary, [&](TokenId id) {
    if (vocabulary->kind(id) != TokenKind::normal) return;
    // Decoding begins so only where the first character stands for no byte.
    const std::string_view text = vocabulary->text(id);
    if (tokenizer::byte_of(tokenizer::decode_lenient(text).code_point) >= 0) return;
    if (!vocabulary->piece(id).starts_with("[UNK_BYTE_")) return;
    bad.add([&] { return named(*vocabulary, id); });
  });
  bad.report(inspection, keys::tokenizer_ggml_tokens, "token",
             " that decoding shows as [UNK_BYTE_...], the first is ");
}

void added_token_missing(Inspection& inspection) {
  const Vocabulary* vocabulary = inspection.vocabulary();
  if (vocabulary == nullptr) return;
  const TokenizerFlags& flags = vocabulary->flags();
  const auto require = [&](bool is_added, SpecialToken special, std::string_view name) {
    if (!is_added || vocabulary->special(special) != no_token) return;
    const std::string text(name);
    const std::string key = std::string(keys::tokenizer_prefix) + "add_" + text + "_token";
    const bool has_flag = inspection.model().find(key) != nullptr;
    inspection.report_key(has_flag ? std::string_view(key) : keys::tokenizer_ggml_model,
                          text + " is added to every text, but no token is " + text);
  };
  require(flags.adds_bos, SpecialToken::bos, "bos");
  require(flags.adds_eos, SpecialToken::eos, "eos");
  require(flags.adds_sep, SpecialToken::sep, "sep");
}

void special_typed_normal(Inspection& inspection) {
  const Vocabulary* vocabulary = inspection.vocabulary();
  if (vocabulary == nullptr ||
      inspection.model().find(keys::tokenizer_ggml_token_type) == nullptr) {
    return;
  }
  std::vector<TokenId> specials(vocabulary->end_of_generation().begin(),
                                vocabulary->end_of_generation().end());
  for (std::size_t i = 0; i < special_token_count; ++i) {
    specials.push_back(vocabulary->special(static_cast<SpecialToken>(i)));
  }
  sort_unique(specials);
  Tally normal;
  for (const TokenId id : specials) {
    const bool is_normal = vocabulary->contains(id) &&
                           vocabulary->kind_in_file(id) == TokenKind::normal &&
                           is_marked(vocabulary->text(id));
    if (is_normal) normal.add([&] { return named(*vocabulary, id); });
  }
  normal.report(inspection, keys::tokenizer_ggml_token_type, "special token",
                " typed as normal, the first is ");
}

void special_ambiguous(Inspection& inspection) {
  const Vocabulary* vocabulary = inspection.vocabulary();
  if (vocabulary == nullptr) return;
  for (const TokenNames& names : names_in(*vocabulary)) {
    if (names.ids.size() < 2 || has_key(inspection.model(), names.special)) continue;
    inspection.report_key(keys::tokenizer_ggml_tokens,
                          std::string(name_of(names.special)) + " has no key; it is token " +
                              named(*vocabulary, names.ids[0]) + ", but could be " +
                              named(*vocabulary, names.ids[1]));
  }
}

void end_is_word(Inspection& inspection) {
  const Vocabulary* vocabulary = inspection.vocabulary();
  if (vocabulary == nullptr) return;
  for (const TokenId id : vocabulary->end_of_generation()) {
    const TokenKind kind = vocabulary->kind_in_file(id);
    if (kind != TokenKind::normal || is_marked(vocabulary->text(id))) continue;
    inspection.report_key(keys::tokenizer_ggml_tokens,
                          "token " + named(*vocabulary, id) + " ends a generation");
  }
}

}  // namespace ingot::check::rules
