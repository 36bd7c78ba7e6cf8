// SPDX-License-Identifier: MIT
// The lists of tokens that come from models of SentencePiece, and from tokenizer.json in their
// kind.
#include <algorithm>

#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tokenizer/sentencepiece_model.hpp"
#include "huggingface/import/tokenizer/token_list.hpp"
#include "ingot/text.hpp"

namespace ingot::huggingface {
namespace {

constexpr float added_score = -1000;
constexpr float unused_score = -10000;

/// The pieces, and the bytes that they borrow.
struct Pieces {
  std::string bytes;
  SentencePieceModel model;

  Result<void> read(const ModelFolder& folder, std::string_view file = file_names::sentencepiece) {
    INGOT_TRY(bytes, folder.read_text(std::string(file), max_table_bytes));
    INGOT_TRY(model, parse_sentencepiece(bytes, folder.locate(file)));
    return {};
  }
};

/// Pieces that are user-defined count as normal ones.
TokenKind kind_of(const SentencePiece& piece) {
  return piece.type == SentencePiece::user_defined ? TokenKind::normal
                                                   : static_cast<TokenKind>(piece.type);
}

/// Appends unused tokens until there are so many.
void fill_up(TokenList& tokens, std::size_t count) {
  while (tokens.size() < count) {
    tokens.add("[PAD" + std::to_string(tokens.size()) + "]", unused_score, TokenKind::unused);
  }
}

}  // namespace

TokenList list_pieces(const SentencePieceModel& model, std::size_t count) {
  TokenList tokens;
  for (std::size_t id = 0; id < std::min(count, model.pieces.size()); ++id) {
    const SentencePiece& piece = model.pieces[id];
    tokens.add(std::string(piece.text), piece.score, kind_of(piece));
  }
  fill_up(tokens, count);
  return tokens;
}

namespace {

/// Lays tokens over a list, as control where they are special and else as user-defined; ids beyond
/// the list are left out.
void lay_over(const std::vector<AddedToken>& added, TokenList& tokens) {
  for (const AddedToken& token : added) {
    if (static_cast<std::uint64_t>(token.id) >= tokens.size()) continue;
    tokens.set(static_cast<std::size_t>(token.id), token.text, added_score,
               token.is_special ? TokenKind::control : TokenKind::user_defined);
  }
}

/// `vocab_size`, or so many if that is not stated.
Result<std::size_t> vocabulary_size(const Config& config, std::size_t pieces) {
  INGOT_TRY(const auto wanted, config.find_count("vocab_size"));
  return bounded_count(wanted.value_or(pieces), "vocab_size");
}

UnigramTokens unigram_of(const SentencePieceModel& model) {
  UnigramTokens result;
  result.has_space_prefix = model.adds_dummy_prefix;
  result.removes_extra_whitespaces = model.removes_extra_whitespaces;
  result.charsmap.assign(model.charsmap.begin(), model.charsmap.end());
  return result;
}

/// The compiled rules of a normalizer, which may be one of several.
Result<std::vector<std::uint8_t>> read_charsmap(const TokenizerFiles& files) {
  JsonView normalizer = files.tokenizer.root()["normalizer"];
  for (const JsonView one : normalizer["normalizers"].elements()) {
    if (one["type"].text() == "Precompiled") normalizer = one;
  }
  const auto bytes = base64_decode(normalizer["precompiled_charsmap"].text());
  if (!bytes) {
    return refuse(files.folder->locate(file_names::tokenizer),
                  "precompiled_charsmap must be base64");
  }
  std::vector<std::uint8_t> charsmap;
  for (const std::byte byte : *bytes) charsmap.push_back(std::to_integer<std::uint8_t>(byte));
  return charsmap;
}

Result<TokenList> read_unigram_vocabulary(const TokenizerFiles& files, const Config& config) {
  const std::string file = files.folder->locate(file_names::tokenizer);
  const JsonView model = files.tokenizer.root()["model"];
  if (model["type"].text() != "Unigram") return refuse(file, "a Unigram vocabulary is needed");
  TokenList tokens;
  for (const JsonView entry : model["vocab"].elements()) {
    const auto score = entry.at(1).number();
    if (!entry.at(0).is_text() || !score) return refuse(file, "a text and a score are a token");
    INGOT_TRY_VOID(bounded_count(tokens.size() + 1, "vocab"));
    tokens.add(std::string(entry.at(0).text()), static_cast<float>(*score), TokenKind::normal);
  }
  const std::string_view unknown = content_of(files.tokenizer_config.root()["unk_token"]);
  std::int64_t unknown_id = model["unk_id"].integer().value_or(0);
  const auto set_kind = [&](std::int64_t id, TokenKind kind) {
    if (static_cast<std::uint64_t>(id) >= tokens.size()) return;
    tokens.kinds[static_cast<std::size_t>(id)] = static_cast<std::int32_t>(kind);
  };
  INGOT_TRY(const auto added, files.added_by_id());
  for (const auto& [id, token] : added) {
    set_kind(id, token.is_special ? TokenKind::control : TokenKind::user_defined);
    if (token.text == unknown) unknown_id = id;
  }
  set_kind(unknown_id, TokenKind::unknown);
  INGOT_TRY(const std::size_t count, vocabulary_size(config, tokens.size()));
  fill_up(tokens, count);
  return tokens;
}

}  // namespace

Result<UnigramTokens> read_t5(const TokenizerFiles& files, const Config& config) {
  const bool is_spiece = !files.folder->has(file_names::sentencepiece);
  const std::string_view file = is_spiece ? "spiece.model" : file_names::sentencepiece;
  Pieces pieces;
  INGOT_TRY_VOID(pieces.read(*files.folder, file));
  if (pieces.model.algorithm != SentencePieceModel::unigram) {
    return refuse(files.folder->locate(file), "a Unigram vocabulary is needed");
  }
  INGOT_TRY(const std::size_t count, vocabulary_size(config, pieces.model.pieces.size()));
  UnigramTokens result = unigram_of(pieces.model);
  result.tokens = list_pieces(pieces.model, count);
  INGOT_TRY(const auto added, files.tokens_of_added_file());
  lay_over(added, result.tokens);
  return result;
}

Result<UnigramTokens> read_xlm_roberta(const TokenizerFiles& files, const Config& config) {
  constexpr std::string_view file = "sentencepiece.bpe.model";
  if (!files.folder->has(file)) {
    const JsonView settings = files.tokenizer_config.root();
    UnigramTokens result;
    INGOT_TRY(result.tokens, read_unigram_vocabulary(files, config));
    INGOT_TRY(result.charsmap, read_charsmap(files));
    result.has_space_prefix = settings["add_prefix_space"].boolean().value_or(false);
    result.removes_extra_whitespaces =
        settings["clean_up_tokenization_spaces"].boolean().value_or(true);
    return result;
  }
  Pieces pieces;
  INGOT_TRY_VOID(pieces.read(*files.folder, file));
  INGOT_TRY(const std::size_t stated, vocabulary_size(config, 0));
  const std::size_t count = std::max(stated, pieces.model.pieces.size());
  const TokenList listed = list_pieces(pieces.model, count);
  UnigramTokens result = unigram_of(pieces.model);
  // Four tokens are in the program of the tokenizer; the pieces after the first three follow.
  for (const std::string_view text : {"<s>", "<pad>", "</s>"}) {
    result.tokens.add(std::string(text), 0, TokenKind::control);
  }
  result.tokens.add("<unk>", 0, TokenKind::unknown);
  for (std::size_t id = 3; id + 1 < count; ++id) {
    result.tokens.add(listed.texts[id], listed.scores[id],
                      static_cast<TokenKind>(listed.kinds[id]));
  }
  return result;
}

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

Result<TokenList> read_arctic(const TokenizerFiles& files, const Config& config) {
  Pieces pieces;
  INGOT_TRY_VOID(pieces.read(*files.folder));
  INGOT_TRY(const std::size_t count, vocabulary_size(config, pieces.model.pieces.size()));
  TokenList tokens = list_pieces(pieces.model, count);
  const std::string_view unknown = files.tokenizer_config.root()["unk_token"].text();
  INGOT_TRY(const auto added, files.tokens_of_config());
  for (const AddedToken& token : added) {
    if (static_cast<std::uint64_t>(token.id) >= count) continue;
    tokens.set(static_cast<std::size_t>(token.id), token.text, token.is_special ? 0 : unused_score,
               !token.is_special       ? TokenKind::user_defined
               : token.text == unknown ? TokenKind::unknown
                                       : TokenKind::control);
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
