// SPDX-License-Identifier: MIT
// SentencePiece in tokenizer.json: byte-pair encoding with merges made from the scores.
#include <algorithm>
#include <tuple>
#include <vector>

#include "commands/export_tokenizer/tokenizer_json_parts.hpp"

namespace ingot::cli {
namespace {

void write_spm_normalizer(JsonStream& json, TokenizerSource& source) {
  write_sequence(json, "normalizers", [&] {
    if (source.tokenizer.flags().has_space_prefix) write_prepend(json);
    write_replace(json, " ", space_symbol);
  });
}

void write_spm_pre_tokenizer(JsonStream& json, TokenizerSource&) { json.null(); }

void write_spm_decoder(JsonStream& json, TokenizerSource& source) {
  write_sequence(json, "decoders", [&] {
    write_replace(json, space_symbol, " ");
    write_byte_fallback(json);
    if (!source.tokenizer.flags().has_space_prefix) return;
    begin_typed(json, "Strip");
    json.member("content", " ");
    json.member("start", 1u);
    json.member("stop", 0u);
    json.end();
  });
}

/// Two tokens whose texts together are a token.
struct Merge {
  float score = 0.0F;
  TokenId product = no_token;
  TokenId left = no_token;
  TokenId right = no_token;
};

bool is_inside_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// Whether merges may make a token.
bool is_made_by_merges(TokenKind kind) {
  return kind != TokenKind::control && kind != TokenKind::unknown && kind != TokenKind::byte;
}

std::vector<Merge> find_merges(const Vocabulary& vocabulary) {
  std::vector<Merge> merges;
  for_each_text(vocabulary, [&](TokenId id, std::string_view text) {
    if (!is_made_by_merges(vocabulary.kind(id))) return;
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (is_inside_character(text[i])) continue;
      const TokenId left = vocabulary.find(text.substr(0, i));
      const TokenId right = vocabulary.find(text.substr(i));
      if (left != no_token && right != no_token) {
        merges.push_back({vocabulary.score(id), id, left, right});
      }
    }
  });
  std::ranges::sort(merges, [](const Merge& a, const Merge& b) {
    return std::tuple(-a.score, a.product, a.left, a.right) <
           std::tuple(-b.score, b.product, b.left, b.right);
  });
  return merges;
}

/// Whether a token is one character again and again: it comes out the same in whatever order.
bool is_run(std::string_view text) {
  std::size_t size = 1;
  while (size < text.size() && is_inside_character(text[size])) ++size;
  return text.substr(size) == text.substr(0, text.size() - size);
}

void warn_of_equal_scores(const std::vector<Merge>& merges, TokenizerSource& source) {
  const Vocabulary& vocabulary = source.tokenizer;
  const auto same = [&](const Merge& a, const Merge& b) {
    return a.score == b.score && a.product != b.product &&
           !(is_run(vocabulary.text(a.product)) && is_run(vocabulary.text(b.product)));
  };
  if (std::ranges::adjacent_find(merges, same) == merges.end()) return;
  source.warnings.emplace_back(
      "tokens have equal scores: of those, llama.cpp merges the leftmost pair first, the library "
      "the token of the lower id; ids can differ");
}

void write_spm_model(JsonStream& json, TokenizerSource& source) {
  const Vocabulary& vocabulary = source.tokenizer;
  write_bpe_options(json, vocabulary.text(vocabulary.special(SpecialToken::unk)), true, true,
                    false);
  write_vocabulary(json, vocabulary);
  const std::vector<Merge> merges = find_merges(vocabulary);
  warn_of_equal_scores(merges, source);
  json.begin_array("merges");
  for (const Merge& merge : merges) {
    write_merge(json, vocabulary.text(merge.left), vocabulary.text(merge.right));
  }
  json.end();
  json.end();
}

}  // namespace

const FamilyParts spm_parts = {TokenizerFamily::spm, write_spm_normalizer, write_spm_pre_tokenizer,
                               write_spm_decoder, write_spm_model};

}  // namespace ingot::cli
