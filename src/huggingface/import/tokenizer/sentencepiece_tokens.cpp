// SPDX-License-Identifier: MIT
// The lists of tokens that come from tokenizer.model.

#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tokenizer/sentencepiece_model.hpp"
#include "huggingface/import/tokenizer/token_list.hpp"

namespace ingot::huggingface {
namespace {

constexpr float added_score = -1000;
constexpr float unused_score = -10000;

/// The pieces, and the bytes that they borrow.
struct Pieces {
  std::string bytes;
  SentencePieceModel model;

  Result<void> read(const ModelFolder& folder) {
    INGOT_TRY(bytes, folder.read_text(file_names::sentencepiece, max_table_bytes));
    INGOT_TRY(model, parse_sentencepiece(bytes, folder.locate(file_names::sentencepiece)));
    return {};
  }
};

/// Pieces that are user-defined count as normal ones.
TokenKind kind_of(const SentencePiece& piece) {
  return piece.type == SentencePiece::user_defined ? TokenKind::normal
                                                   : static_cast<TokenKind>(piece.type);
}

/// `count` tokens: the pieces, as far as they fit, and unused ones.
TokenList list_pieces(const SentencePieceModel& model, std::size_t count) {
  TokenList tokens;
  for (std::size_t id = 0; id < count; ++id) {
    if (id < model.pieces.size()) {
      const SentencePiece& piece = model.pieces[id];
      tokens.add(std::string(piece.text), piece.score, kind_of(piece));
    } else {
      tokens.add("[PAD" + std::to_string(id) + "]", unused_score, TokenKind::unused);
    }
  }
  return tokens;
}

/// Lays tokens over a list, as control where they are special and else as user-defined; ids beyond
/// the list are left out.
void lay_over(const std::vector<AddedToken>& added, TokenList& tokens) {
  for (const AddedToken& token : added) {
    if (static_cast<std::uint64_t>(token.id) >= tokens.size()) continue;
    tokens.set(static_cast<std::size_t>(token.id), token.text, added_score,
               token.is_special ? TokenKind::control : TokenKind::user_defined);
  }
}

}  // namespace

Result<TokenList> read_sentencepiece(const TokenizerFiles& files, const Config& config) {
  Pieces pieces;
  INGOT_TRY_VOID(pieces.read(*files.folder));
  // The first member that is there decides, even if it is null or 0.
  const bool has_other = config.values().contains("vocab_size_per_layer_input");
  const char* const name = has_other ? "vocab_size_per_layer_input" : "vocab_size";
  INGOT_TRY(const auto wanted, config.find_count(name));
  INGOT_TRY(const std::size_t count,
            bounded_count(wanted.value_or(0) == 0 ? pieces.model.pieces.size() : *wanted, name));
  TokenList tokens = list_pieces(pieces.model, count);
  INGOT_TRY(const auto of_file, files.tokens_of_added_file());
  lay_over(of_file, tokens);
  INGOT_TRY(const auto of_config, files.tokens_of_config());
  for (const AddedToken& token : of_config) {
    if (static_cast<std::uint64_t>(token.id) >= tokens.size()) continue;
    tokens.lay_over(token, added_score);
  }
  return tokens;
}

Result<TokenList> read_phi3(const TokenizerFiles& files, const Config& config) {
  Pieces pieces;
  INGOT_TRY_VOID(pieces.read(*files.folder));
  INGOT_TRY(const auto wanted, config.find_count("vocab_size"));
  INGOT_TRY(const std::size_t count,
            bounded_count(wanted.value_or(pieces.model.pieces.size()), "vocab_size"));
  TokenList tokens = list_pieces(pieces.model, count);
  INGOT_TRY(const auto of_file, files.tokens_of_added_file());
  INGOT_TRY(const auto of_config, files.tokens_of_config());
  INGOT_TRY(const auto of_tokenizer, files.tokens_of_tokenizer());
  for (const auto* added : {&of_file, &of_config, &of_tokenizer}) lay_over(*added, tokens);
  return tokens;
}

Result<Internlm2Tokens> read_internlm2(const TokenizerFiles& files, const Config& config) {
  Pieces pieces;
  INGOT_TRY_VOID(pieces.read(*files.folder));
  const std::size_t piece_count = pieces.model.pieces.size();
  INGOT_TRY(const auto wanted, config.find_count("vocab_size"));
  INGOT_TRY(const std::size_t count, bounded_count(wanted.value_or(piece_count), "vocab_size"));
  if (count > piece_count) {
    return refuse(files.folder->locate(file_names::sentencepiece),
                  std::to_string(piece_count) + " pieces, where vocab_size is " +
                      std::to_string(count) + "; there must be a piece for each id");
  }
  Internlm2Tokens result;
  result.has_space_prefix = pieces.model.adds_dummy_prefix;
  result.tokens = list_pieces(pieces.model, count);
  for (std::size_t id = 0; id < count; ++id) {
    std::string& text = result.tokens.texts[id];
    if (text.starts_with("[UNUSED")) {
      result.tokens.kinds[id] = static_cast<std::int32_t>(TokenKind::unused);
    }
    // A text of GGUF's readers ends at a NUL; the dragon stands for it.
    if (text == std::string_view("\0", 1)) text = "\xF0\x9F\x90\x89";  // U+1F409
  }
  INGOT_TRY(const auto of_file, files.tokens_of_added_file());
  for (const AddedToken& token : of_file) {
    result.tokens.add(std::string(token.text), added_score, TokenKind::user_defined);
  }
  INGOT_TRY(const auto of_config, files.tokens_of_config());
  INGOT_TRY(const auto of_tokenizer, files.tokens_of_tokenizer());
  for (const auto* added : {&of_config, &of_tokenizer}) {
    lay_over(*added, result.tokens);
    for (const AddedToken& token : *added) {
      if (token.text == chat_end_text) result.chat_end = token.id;
    }
  }
  return result;
}

}  // namespace ingot::huggingface
