// SPDX-License-Identifier: MIT
// The tokens of a model in the forms that folders have for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "huggingface/export/config_members.hpp"
#include "huggingface/tokenizer_json/tokenizer_document.hpp"
#include "ingot/error.hpp"
#include "ingot/tokenizer.hpp"

namespace ingot::huggingface {

struct FolderVocabulary {
  enum class Form : std::uint8_t {
    bpe,            ///< tokenizer.json
    llama_json,     ///< tokenizer.json of BPE whose bytes are tokens.
    sentencepiece,  ///< tokenizer.model, and tokenizer.json beside it
  };

  Form form = Form::bpe;
  std::vector<DocumentToken> tokens;  ///< Their texts are borrowed from the model.
  /// Ids below are in model.vocab or are pieces; ids from here on are added, or fill up.
  std::size_t trained_count = 0;
  /// `added_tokens` of tokenizer.json and `added_tokens_decoder` of tokenizer_config.json,
  /// ascending.
  std::vector<std::uint32_t> listed;
  std::vector<std::uint32_t> decoded;
  /// added_tokens.json: tokens whose text the other lists would change.
  std::vector<std::uint32_t> plain;
  std::unordered_map<std::string_view, std::uint32_t> listed_by_text;  ///< The first of each.
  /// `model.vocab`: a text is the token of one id, of several, of one that was trained.
  std::unordered_map<std::string_view, std::uint32_t> ids;

  /// Whether a token is one that only fills the ids up to their number.
  [[nodiscard]] bool fills_up(std::uint32_t id) const;
};

/// Reads the vocabulary. Errc::tokenizer_unknown for kinds that folders of these architectures do
/// not have.
[[nodiscard]] Result<FolderVocabulary> read_folder_vocabulary(const FolderFacts& facts);

/// Whether the import takes a step with this name for the tokenizer.
[[nodiscard]] bool has_tokenizer_step(const Architecture& architecture, std::string_view name);

}  // namespace ingot::huggingface
