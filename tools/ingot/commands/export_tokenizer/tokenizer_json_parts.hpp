// SPDX-License-Identifier: MIT
// The parts of tokenizer.json in which families differ.
#pragma once

#include "commands/export_tokenizer/tokenizer_json.hpp"
#include "text/vocabulary_facts.hpp"

namespace ingot::cli {

/// U+2581, which stands for a space in many vocabularies.
inline constexpr std::string_view space_symbol = "\xE2\x96\x81";

/// The functions that write a family; each writes one value.
struct FamilyParts {
  using Write = void(JsonStream& json, TokenizerSource& source);
  TokenizerFamily family;
  Write* normalizer;
  Write* pre_tokenizer;
  Write* decoder;
  Write* model;
};
extern const FamilyParts bpe_parts;
extern const FamilyParts spm_parts;
extern const FamilyParts wpm_parts;
extern const FamilyParts ugm_parts;

// --- values that several families have

/// `{"type": type, ...}`; the members follow, and `end`.
void begin_typed(JsonStream& json, std::string_view type);
/// Replaces a text by another one.
void write_replace(JsonStream& json, std::string_view from, std::string_view to);
/// Writes a replacement of a regular expression.
void write_replace_regex(JsonStream& json, std::string_view from, std::string_view to);
/// Joins byte tokens to characters, and all pieces to one text.
void write_byte_fallback(JsonStream& json);
/// A prepended space symbol.
void write_prepend(JsonStream& json);
/// `{"type": "Sequence", key: [...]}`, of which `write_items` writes the items.
template <class WriteItems>
void write_sequence(JsonStream& json, std::string_view key, const WriteItems& write_items) {
  begin_typed(json, "Sequence");
  json.begin_array(key);
  write_items();
  json.end();
  json.end();
}

/// The members of a BPE model before its merges.
void write_bpe_options(JsonStream& json, std::string_view unknown, bool fuses_unknown,
                       bool has_byte_fallback, bool ignores_merges);
/// `"vocab": {text: id}`.
void write_vocabulary(JsonStream& json, const Vocabulary& vocabulary);
void write_merge(JsonStream& json, std::string_view left, std::string_view right);

}  // namespace ingot::cli
