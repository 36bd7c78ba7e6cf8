// SPDX-License-Identifier: MIT
// Unigram in tokenizer.json.
#include <algorithm>
#include <ingot/metadata_keys.hpp>

#include "commands/export_tokenizer/tokenizer_json_parts.hpp"

namespace ingot::cli {
namespace {

/// The distance by which tokens that the lattice must not pick score below all others.
constexpr double hidden_penalty = 100.0;

void write_ugm_normalizer(JsonStream& json, TokenizerSource& source) {
  const TokenizerFlags& flags = source.tokenizer.flags();
  write_sequence(json, "normalizers", [&] {
    const Value* charsmap = source.model.find(keys::tokenizer_ggml_precompiled_charsmap);
    if (charsmap != nullptr && !charsmap->as_array().empty()) {
      begin_typed(json, "Precompiled");
      json.key("precompiled_charsmap");
      json.base64(charsmap->as_array().bytes());
      json.end();
    }
    if (flags.removes_extra_spaces) {
      write_replace_regex(json, "^ +| +$", "");
      write_replace_regex(json, " {2,}", " ");
    }
    write_replace(json, " ", space_symbol);
    if (flags.has_space_prefix || flags.removes_extra_spaces) write_prepend(json);
  });
}

void write_ugm_pre_tokenizer(JsonStream& json, TokenizerSource&) { json.null(); }

void write_ugm_decoder(JsonStream& json, TokenizerSource&) {
  begin_typed(json, "Metaspace");
  json.member("replacement", space_symbol);
  json.member("prepend_scheme", "always");
  json.member("split", false);
  json.end();
}

bool is_in_lattice(TokenKind kind) {
  return kind == TokenKind::normal || kind == TokenKind::user_defined || kind == TokenKind::unused;
}

void write_ugm_model(JsonStream& json, TokenizerSource& source) {
  const Vocabulary& vocabulary = source.tokenizer;
  double lowest = 0.0;
  for (TokenId id = 0; vocabulary.contains(id); ++id) {
    if (is_in_lattice(vocabulary.kind_in_file(id))) {
      lowest = std::min(lowest, static_cast<double>(vocabulary.score(id)));
    }
  }
  begin_typed(json, "Unigram");
  json.member("unk_id", vocabulary.special(SpecialToken::unk));
  json.begin_array("vocab");
  for (TokenId id = 0; vocabulary.contains(id); ++id) {
    const TokenKind kind = vocabulary.kind_in_file(id);
    const double score = kind == TokenKind::user_defined ? 0.0
                         : is_in_lattice(kind)           ? static_cast<double>(vocabulary.score(id))
                                                         : lowest - hidden_penalty;
    json.begin_array(Layout::line);
    json.value(vocabulary.text(id));
    json.value(score);
    json.end();
  }
  json.end();
  json.member("byte_fallback", false);
  json.end();
}

}  // namespace

const FamilyParts ugm_parts = {TokenizerFamily::ugm, write_ugm_normalizer, write_ugm_pre_tokenizer,
                               write_ugm_decoder, write_ugm_model};

}  // namespace ingot::cli
