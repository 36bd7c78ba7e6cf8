// SPDX-License-Identifier: MIT
// The tokens of a model folder, in the form that GGUF stores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "huggingface/folder/config.hpp"
#include "huggingface/import/tokenizer/sentencepiece_model.hpp"
#include "huggingface/import/tokenizer/tokenizer_files.hpp"
#include "ingot/error.hpp"
#include "ingot/tokenizer.hpp"

namespace ingot::huggingface {

/// Text, score and kind of each id.
struct TokenList {
  std::vector<std::string> texts;
  std::vector<float> scores;  ///< One score for each text, or an empty list.
  std::vector<std::int32_t> kinds;

  [[nodiscard]] std::size_t size() const noexcept { return texts.size(); }
  void add(std::string text, float score, TokenKind kind);
  /// Replaces a token, which must be there.
  void set(std::size_t id, std::string_view text, float score, TokenKind kind);
  /// Replaces a token by an added one: for control where it is special or looks so, else as the
  /// user defined it, with spaces for `space_letter`.
  void lay_over(const AddedToken& token, float score);
};

/// A number of tokens, by a member of config.json. Errc::import_refused beyond max_tokens.
[[nodiscard]] Result<std::size_t> bounded_count(std::uint64_t count, std::string_view member);

/// All ids of tokenizer.json, or else of vocab.json or vocab.txt; without scores.
[[nodiscard]] Result<TokenList> read_vocabulary(const TokenizerFiles& files, const Config& config);

/// Reads a WordPiece vocabulary: U+2581 begins a word here, while the files mark the continuation
/// of a word by "##".
[[nodiscard]] Result<TokenList> read_word_pieces(const TokenizerFiles& files, const Config& config);

/// The number of ids in the tokenizer's files, the highest plus one, whatever config.json states.
[[nodiscard]] Result<std::uint64_t> count_token_ids(const TokenizerFiles& files);

/// A tokenizer.json of the Llama kind: BPE whose bytes are tokens. An engine merges the neighbours
/// whose joined text is the token of the highest score, so the scores are the ranks of the merges.
struct LlamaTokens {
  TokenList tokens;
  /// Pairs of tokens that an engine joins at another time than the merges of the file, or that the
  /// file never joins.
  std::size_t inexact_pairs = 0;
};
[[nodiscard]] Result<LlamaTokens> read_llama_json(const TokenizerFiles& files);
[[nodiscard]] bool is_llama_json(const TokenizerFiles& files);

/// `count` tokens: the pieces, as far as they fit, and unused ones.
[[nodiscard]] TokenList list_pieces(const SentencePieceModel& model, std::size_t count);

/// tokenizer.model with the tokens that other files add.
[[nodiscard]] Result<TokenList> read_sentencepiece(const TokenizerFiles& files,
                                                   const Config& config);

/// Tokens that are joined by their scores alone, and how a text is prepared for them.
struct UnigramTokens {
  TokenList tokens;
  bool has_space_prefix = true;
  bool removes_extra_whitespaces = true;
  std::vector<std::uint8_t> charsmap;  ///< Compiled rules of normalization.
};
/// Reads tokenizer.model or spiece.model by the rules for T5.
[[nodiscard]] Result<UnigramTokens> read_t5(const TokenizerFiles& files, const Config& config);
/// Reads sentencepiece.bpe.model, or else tokenizer.json, by the rules for XLM-RoBERTa.
[[nodiscard]] Result<UnigramTokens> read_xlm_roberta(const TokenizerFiles& files,
                                                     const Config& config);

/// Reads tokenizer.model by the rules for Arctic, whose tokenizer_config.json gives pieces of it
/// other texts.
[[nodiscard]] Result<TokenList> read_arctic(const TokenizerFiles& files, const Config& config);

/// Reads the tokens by the rules for Phi-3.
[[nodiscard]] Result<TokenList> read_phi3(const TokenizerFiles& files, const Config& config);

/// A special token of InternLM 2 and of models with its tokens.
inline constexpr std::string_view chat_end_text = "<|im_end|>";

/// The tokens by the rules for InternLM 2.
struct Internlm2Tokens {
  TokenList tokens;
  bool has_space_prefix = true;
  std::int64_t chat_end = -1;  ///< The id of chat_end_text; -1 if no file lists it.
};
[[nodiscard]] Result<Internlm2Tokens> read_internlm2(const TokenizerFiles& files,
                                                     const Config& config);

}  // namespace ingot::huggingface
