// SPDX-License-Identifier: MIT
#include "huggingface/export/folder_vocabulary.hpp"

#include <algorithm>
#include <string>

#include "huggingface/import/tokenizer/sentencepiece_model.hpp"
#include "huggingface/import/tokenizer/tokenizer_files.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::huggingface {
namespace {

/// The score that the import gives to tokens that were added after training.
constexpr float added_score = -1000;

Failure wrong(std::string_view key, std::string detail) {
  return fail(Errc::tokenizer_invalid, std::string(key), std::move(detail));
}

class Reader {
 public:
  explicit Reader(const FolderFacts& facts) : facts_(facts) {}

  Result<FolderVocabulary> read() {
    INGOT_TRY_VOID(read_tokens());
    const auto model = facts_.model.get_or<std::string_view>(keys::tokenizer_ggml_model, "");
    if (model == "gpt2") {
      list_bpe();
    } else if (model == "llama") {
      is_of_merges() ? list_llama_json() : list_pieces();
    } else if (model == "gemma4") {
      list_llama_json();
    } else {
      return fail(Errc::tokenizer_unknown, std::string(keys::tokenizer_ggml_model),
                  "folders of " + facts_.architecture.name + " have gpt2, llama or gemma4");
    }
    for (const std::uint32_t id : vocabulary_.listed) {
      vocabulary_.listed_by_text.emplace(vocabulary_.tokens[id].text, id);
    }
    choose_ids();
    return std::move(vocabulary_);
  }

 private:
  Result<void> read_tokens() {
    const Value* const texts = facts_.model.find(keys::tokenizer_ggml_tokens);
    const Value* const scores = facts_.model.find(keys::tokenizer_ggml_scores);
    const Value* const kinds = facts_.model.find(keys::tokenizer_ggml_token_type);
    if (texts == nullptr || texts->as_array().size() == 0 ||
        texts->as_array().size() > max_tokens) {
      return wrong(keys::tokenizer_ggml_tokens,
                   "a folder needs from 1 to " + std::to_string(max_tokens) + " tokens");
    }
    for (const Value& text : texts->as_array()) {
      INGOT_TRY(vocabulary_.tokens.emplace_back().text, text.get<std::string_view>());
    }
    for (const Value* const list : {scores, kinds}) {
      if (list != nullptr && list->as_array().size() != vocabulary_.tokens.size()) {
        return wrong(list == scores ? keys::tokenizer_ggml_scores : keys::tokenizer_ggml_token_type,
                     "it must have an element for each token");
      }
    }
    for (std::size_t id = 0; id < vocabulary_.tokens.size(); ++id) {
      DocumentToken& token = vocabulary_.tokens[id];
      if (scores != nullptr) token.score = scores->as_array().get<float>(id).value_or(0.0F);
      if (kinds == nullptr) continue;
      const auto kind = kinds->as_array().get<std::int64_t>(id).value_or(1);
      const bool is_known = kind >= 0 && kind <= static_cast<std::int64_t>(TokenKind::byte);
      token.kind = is_known ? static_cast<TokenKind>(kind) : TokenKind::undefined;
    }
    return {};
  }

  /// Whether the tokens are those of a tokenizer.json of the Llama kind, which has merges and no
  /// scores: the import gives the lowest score to tokens that no merge makes, or one score to all.
  bool is_of_merges() const {
    const float lowest = std::ranges::min(vocabulary_.tokens, {}, &DocumentToken::score).score;
    return has_tokenizer_step(facts_.architecture, "llama") &&
           std::ranges::all_of(vocabulary_.tokens, [&](const DocumentToken& token) {
             const bool is_made = token.kind != TokenKind::control && token.kind != TokenKind::byte;
             return is_made || token.score == lowest;
           });
  }

  static bool is_added(const DocumentToken& token) {
    return token.kind == TokenKind::control || token.kind == TokenKind::user_defined;
  }

  /// Ids from the first one after the last that `is_trained`.
  template <class IsTrained>
  void count_trained(const IsTrained& is_trained) {
    std::size_t count = vocabulary_.tokens.size();
    while (count > 1 && !is_trained(static_cast<std::uint32_t>(count - 1))) --count;
    vocabulary_.trained_count = count;
  }

  void list_bpe() {
    vocabulary_.form = FolderVocabulary::Form::bpe;
    vocabulary_.trained_count = vocabulary_.tokens.size();
    list_added(0, true);
    vocabulary_.decoded = vocabulary_.listed;
  }

  /// Added are tokens behind the vocabulary; those within it are special by their names alone.
  void list_llama_json() {
    vocabulary_.form = FolderVocabulary::Form::llama_json;
    count_trained([&](std::uint32_t id) { return !is_added(vocabulary_.tokens[id]); });
    list_added(0, false);
    vocabulary_.decoded = vocabulary_.listed;
  }

  void list_added(std::uint32_t first, bool with_user_defined) {
    for (std::uint32_t id = first; id < vocabulary_.tokens.size(); ++id) {
      const DocumentToken& token = vocabulary_.tokens[id];
      const bool is_user_defined = token.kind == TokenKind::user_defined &&
                                   (with_user_defined || id >= vocabulary_.trained_count);
      if (token.kind == TokenKind::control || is_user_defined) vocabulary_.listed.push_back(id);
    }
  }

  /// The lists give a token the score of added ones, so that only such tokens are in them.
  void list_pieces() {
    vocabulary_.form = FolderVocabulary::Form::sentencepiece;
    const bool keeps_texts = has_tokenizer_step(facts_.architecture, "phi3");
    for (std::uint32_t id = 0; id < vocabulary_.tokens.size(); ++id) {
      const DocumentToken& token = vocabulary_.tokens[id];
      if (!is_added(token)) continue;
      const bool is_laid_over = token.score == added_score;
      const bool would_change =
          !keeps_texts && token.kind == TokenKind::user_defined &&
          (looks_special(token.text) || token.text.find(space_letter) != token.text.npos);
      if (is_laid_over) (would_change ? vocabulary_.plain : vocabulary_.decoded).push_back(id);
      if (is_laid_over || !keeps_texts) vocabulary_.listed.push_back(id);
    }
    count_trained([&](std::uint32_t id) {
      const DocumentToken& token = vocabulary_.tokens[id];
      return !(is_added(token) && token.score == added_score) && !vocabulary_.fills_up(id);
    });
  }

  void choose_ids() {
    const bool is_bpe = vocabulary_.form == FolderVocabulary::Form::bpe;
    const std::size_t count = vocabulary_.form == FolderVocabulary::Form::llama_json
                                  ? vocabulary_.trained_count
                                  : vocabulary_.tokens.size();
    for (const bool is_normal : {true, false}) {
      for (std::uint32_t id = 0; id < count; ++id) {
        const DocumentToken& token = vocabulary_.tokens[id];
        const bool is_left_out =
            vocabulary_.fills_up(id) && (is_bpe || id >= vocabulary_.trained_count);
        if (is_left_out || (token.kind == TokenKind::normal) != is_normal) continue;
        vocabulary_.ids.emplace(token.text, id);
      }
    }
  }

  const FolderFacts& facts_;
  FolderVocabulary vocabulary_;
};

}  // namespace

bool FolderVocabulary::fills_up(std::uint32_t id) const {
  return tokens[id].kind == TokenKind::unused &&
         tokens[id].text == "[PAD" + std::to_string(id) + "]";
}

bool has_tokenizer_step(const Architecture& architecture, std::string_view name) {
  const auto& steps = architecture.tokenizer;
  return std::ranges::find(steps, name) != steps.end();
}

Result<FolderVocabulary> read_folder_vocabulary(const FolderFacts& facts) {
  return Reader(facts).read();
}

}  // namespace ingot::huggingface
