// SPDX-License-Identifier: MIT
#include "huggingface/import/tokenizer/tokenizer_files.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/strings.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tokenizer/sentencepiece_model.hpp"

namespace ingot::huggingface {
namespace {

/// A token that a file lists as an object with `content` and `special`.
Result<AddedToken> added_token(JsonView token, std::optional<std::int64_t> id,
                               const std::string& file) {
  const JsonView content = token["content"];
  if (!content.is_text()) return refuse(file, "an added token has no \"content\" that is a text");
  if (!id || *id < 0 || *id >= static_cast<std::int64_t>(max_tokens)) {
    return refuse(file, "the id of the added token \"" + std::string(content.text()) +
                            "\" is no number from 0 to " + std::to_string(max_tokens - 1));
  }
  return AddedToken{content.text(), *id, token["special"].boolean().value_or(false)};
}

}  // namespace

Result<JsonTree> read_tree(const ModelFolder& folder, std::string_view file) {
  if (!folder.has(file)) return JsonTree();
  INGOT_TRY(const std::string text, folder.read_text(file, max_table_bytes));
  return JsonTree::parse(text, folder.locate(file));
}

Result<TokenizerFiles> TokenizerFiles::read(const ModelFolder& folder) {
  TokenizerFiles files;
  files.folder = &folder;
  INGOT_TRY(files.tokenizer, read_tree(folder, file_names::tokenizer));
  INGOT_TRY(files.tokenizer_config, read_tree(folder, file_names::tokenizer_config));
  INGOT_TRY(files.model_config, read_tree(folder, file_names::model_config));
  INGOT_TRY(files.added_tokens, read_tree(folder, file_names::added_tokens));
  return files;
}

Result<std::vector<AddedToken>> TokenizerFiles::tokens_of_tokenizer() const {
  const std::string file = folder->locate(file_names::tokenizer);
  std::vector<AddedToken> tokens;
  for (const JsonView token : tokenizer.root()["added_tokens"].elements()) {
    INGOT_TRY(tokens.emplace_back(), added_token(token, token["id"].integer(), file));
  }
  return tokens;
}

Result<std::vector<AddedToken>> TokenizerFiles::tokens_of_config() const {
  const std::string file = folder->locate(file_names::tokenizer_config);
  std::vector<AddedToken> tokens;
  for (const auto& [id, token] : tokenizer_config.root()["added_tokens_decoder"].members()) {
    INGOT_TRY(tokens.emplace_back(), added_token(token, parse_number<std::int64_t>(id), file));
  }
  return tokens;
}

Result<std::vector<AddedToken>> TokenizerFiles::tokens_of_added_file() const {
  std::vector<AddedToken> tokens;
  for (const auto& [text, id] : added_tokens.root().members()) {
    if (id.integer().value_or(-1) < 0) {
      return refuse(folder->locate(file_names::added_tokens),
                    "the id of an added token is no number from 0 on");
    }
    tokens.push_back({text, *id.integer(), false});
  }
  return tokens;
}

Result<std::map<std::int64_t, AddedToken>> TokenizerFiles::added_by_id() const {
  std::map<std::int64_t, AddedToken> by_id;
  INGOT_TRY(const auto of_tokenizer, tokens_of_tokenizer());
  INGOT_TRY(const auto of_config, tokens_of_config());
  for (const AddedToken& token : of_tokenizer) by_id.insert_or_assign(token.id, token);
  for (const AddedToken& token : of_config) by_id.insert_or_assign(token.id, token);
  return by_id;
}

std::string_view content_of(JsonView token) noexcept {
  return token.is_object() ? token["content"].text() : token.text();
}

bool looks_special(std::string_view text) noexcept {
  // Tokens of deepseek-coder and gemma that their files do not mark.
  constexpr std::array<std::string_view, 4> known = {"<pad>", "<mask>", "<2mass>", "[@BOS@]"};
  if (std::ranges::find(known, text) != known.end()) return true;
  return (text.starts_with("<|") && text.ends_with("|>")) ||
         (text.starts_with("<\xEF\xBD\x9C") && text.ends_with("\xEF\xBD\x9C>")) ||  // U+FF5C
         (text.starts_with("<unused") && text.ends_with(">"));
}

std::string with_spaces(std::string_view text) {
  std::string spaced(text);
  replace_all(spaced, space_letter, " ");
  return spaced;
}

}  // namespace ingot::huggingface
