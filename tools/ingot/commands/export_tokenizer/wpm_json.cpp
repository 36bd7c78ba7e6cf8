// SPDX-License-Identifier: MIT
// WordPiece in tokenizer.json.
#include <string>

#include "commands/export_tokenizer/tokenizer_json_parts.hpp"

namespace ingot::cli {
namespace {

constexpr std::string_view continuation = "##";

/// Characters of the longest word that is cut into tokens: llama.cpp has no limit. The usual 100
/// would make one unknown token of longer words.
constexpr std::uint32_t max_word_characters = 1'000'000'000;

void write_wpm_normalizer(JsonStream& json, TokenizerSource& source) {
  const bool lower = source.model.get_or<bool>("tokenizer.ggml.normalizer.lowercase", true);
  begin_typed(json, "BertNormalizer");
  json.member("clean_text", true);
  json.member("handle_chinese_chars", true);
  json.member("strip_accents",
              source.model.get_or<bool>("tokenizer.ggml.normalizer.strip_accents", lower));
  json.member("lowercase", lower);
  json.end();
}

void write_wpm_pre_tokenizer(JsonStream& json, TokenizerSource&) {
  begin_typed(json, "BertPreTokenizer");
  json.end();
}

void write_wpm_decoder(JsonStream& json, TokenizerSource&) {
  begin_typed(json, "WordPiece");
  json.member("prefix", continuation);
  json.member("cleanup", true);
  json.end();
}

/// A token as it was spelt before it came into a GGUF file.
std::string original_spelling(const Vocabulary& vocabulary, TokenId id) {
  const std::string_view text = vocabulary.text(id);
  const TokenKind kind = vocabulary.kind(id);
  if (kind == TokenKind::control || kind == TokenKind::unknown) return std::string(text);
  if (text.starts_with(space_symbol)) return std::string(text.substr(space_symbol.size()));
  return std::string(continuation).append(text);
}

void write_wpm_model(JsonStream& json, TokenizerSource& source) {
  const Vocabulary& vocabulary = source.tokenizer;
  begin_typed(json, "WordPiece");
  json.member("unk_token", vocabulary.text(vocabulary.special(SpecialToken::unk)));
  json.member("continuing_subword_prefix", continuation);
  json.member("max_input_chars_per_word", max_word_characters);
  json.begin_object("vocab");
  for_each_text(vocabulary, [&](TokenId id, std::string_view) {
    json.member(original_spelling(vocabulary, id), id);
  });
  json.end();
  json.end();
  source.warnings.emplace_back(
      "ids differ where llama.cpp differs from the original: Hangul and vowel signs without "
      "accents, U+0085, U+0130");
}

}  // namespace

const FamilyParts wpm_parts = {TokenizerFamily::wpm, write_wpm_normalizer, write_wpm_pre_tokenizer,
                               write_wpm_decoder, write_wpm_model};

}  // namespace ingot::cli
