// SPDX-License-Identifier: MIT
// Tokens that have a part of their own by their text: token_names.def.
#include <algorithm>
#include <initializer_list>

#include "base/ascii.hpp"
#include "ingot/metadata_keys.hpp"
#include "tokenizer/vocabulary/vocabulary_data.hpp"

namespace ingot::tokenizer {
namespace {

struct TokenName {
  SpecialToken special;
  std::string_view text;
};
constexpr TokenName token_names[] = {
#define INGOT_TOKEN_NAME(special, text) {SpecialToken::special, text},
#define INGOT_END_NAME(text)
#define INGOT_USER_NAME(text)
#include "tokenizer/vocabulary/token_names.def"
};
constexpr std::string_view end_names[] = {
#define INGOT_TOKEN_NAME(special, text)
#define INGOT_END_NAME(text) text,
#define INGOT_USER_NAME(text)
#include "tokenizer/vocabulary/token_names.def"
};
constexpr std::string_view user_names[] = {
#define INGOT_TOKEN_NAME(special, text)
#define INGOT_END_NAME(text)
#define INGOT_USER_NAME(text) text,
#include "tokenizer/vocabulary/token_names.def"
};

class Resolver {
 public:
  explicit Resolver(VocabularyData& data) : data_(data) {}

  void run() {
    find_specials();
    for (const SpecialToken token :
         {SpecialToken::fim_pad, SpecialToken::fim_rep, SpecialToken::fim_sep}) {
      add_end(data_.special(token));
    }
    for (const TokenName& name : token_names) {
      if (name.special == SpecialToken::eot) add_end_and_hide(name.text);
    }
    for (const std::string_view text : end_names) add_end_and_hide(text);
    for (const std::string_view text : user_names) set_kind(text, TokenKind::user_defined);
    for (const SpecialToken token : {SpecialToken::eos, SpecialToken::eot, SpecialToken::eom}) {
      add_end(data_.special(token));
    }
    resolve_rivals();
    std::ranges::sort(data_.ends);
  }

 private:
  void find_specials() {
    std::array<bool, special_token_count> has_key = {};
    for (std::size_t i = 0; i < has_key.size(); ++i) has_key[i] = data_.specials[i] != no_token;
    for (const TokenName& name : token_names) {
      TokenId& id = data_.special(name.special);
      if (has_key[static_cast<std::size_t>(name.special)] || id != no_token) continue;
      id = data_.find(name.text);
      if (id != no_token) set_kind(name.text, TokenKind::control);
    }
  }
  void set_kind(std::string_view text, TokenKind kind) {
    const TokenId id = data_.find(text);
    if (id != no_token) data_.kinds[static_cast<std::size_t>(id)] = kind;
  }
  void add_end(TokenId id) {
    if (id != no_token && std::ranges::find(data_.ends, id) == data_.ends.end()) {
      data_.ends.push_back(id);
    }
  }
  void add_end_and_hide(std::string_view text) {
    add_end(data_.find(text));
    set_kind(text, TokenKind::control);
  }
  [[nodiscard]] bool is_end(std::string_view text) const {
    const TokenId id = data_.find(text);
    return id != no_token && std::ranges::find(data_.ends, id) != data_.ends.end();
  }
  void remove_end(std::string_view text, TokenKind kind) {
    std::erase(data_.ends, data_.find(text));
    set_kind(text, kind);
  }

  /// Resolves tokens that two chat formats use as parts of a turn, though they end a generation
  /// elsewhere.
  void resolve_rivals() {
    const bool calls = is_end("<|call|>") || is_end("<|calls|>");
    const bool is_part = (is_end("<|return|>") && calls) || (calls && is_end("<|flush|>"));
    if (is_end("<|end|>") && is_part) remove_end("<|end|>", TokenKind::user_defined);
    if (is_end("<|tool_response>") && is_end("</s>")) remove_end("</s>", TokenKind::normal);
  }

  VocabularyData& data_;
};

bool contains_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

/// No key says which tokens drop the white space beside them; readers go by names of models.
void find_strips(const Model& model, VocabularyData& data) {
  const auto architecture = model.get_or<std::string_view>(keys::general_architecture, "");
  const std::string name = lower_case(model.get_or<std::string_view>(keys::general_name, ""));
  const auto strip_left = [&](std::string_view text) {
    const TokenId id = data.find(text);
    if (id != no_token) data.strip_left.push_back(id);
  };
  if (contains_any(data.pre_name, {"jina-v2-de", "jina-v2-es", "jina-v2-code"}) ||
      contains_any(architecture, {"nomic-bert-moe", "jina-bert-v3"})) {
    strip_left("<mask>");
  } else if (contains_any(name, {"phi-3", "phi3"})) {
    const TokenId end = data.find("</s>");
    for (TokenId id = 0; static_cast<std::size_t>(id) < data.texts.size(); ++id) {
      if (data.is_found_in_text(id) || id == end) data.strip_right.push_back(id);
    }
    for (const std::string_view text : {"<unk>", "<s>", "<|endoftext|>"}) {
      std::erase(data.strip_right, data.find(text));
    }
  } else if (contains_any(name, {"modern-bert"})) {
    strip_left("[MASK]");
  }
}

}  // namespace

void resolve_special_tokens(const Model& model, VocabularyData& data) {
  Resolver(data).run();
  find_strips(model, data);
  if (data.model_name == "hybriddna") data.first_k_mer = data.find("<oov>");
}

}  // namespace ingot::tokenizer
