// SPDX-License-Identifier: MIT
#include "import/tokenizer/tokenizer_files.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "import/folder/refusal.hpp"
#include "import/tokenizer/sentencepiece_model.hpp"

namespace ingot::hf {
namespace {

/// Tokens that a file lists as objects with `content` and `special`.
class AddedTokens {
 public:
  explicit AddedTokens(std::string file) : file_(std::move(file)) {}

  /// Whether the token is one.
  bool add(JsonView token, std::optional<std::int64_t> id) {
    const JsonView content = token["content"];
    if (!content.is_text()) {
      outcome_ = refuse(file_, "an added token has no \"content\" that is a text");
    } else if (!id || *id < 0 || *id >= static_cast<std::int64_t>(max_tokens)) {
      outcome_ = refuse(file_, "the id of the added token \"" + std::string(content.text()) +
                                   "\" is no number from 0 to " + std::to_string(max_tokens - 1));
    } else {
      tokens_.push_back({content.text(), *id, token["special"].boolean().value_or(false)});
    }
    return outcome_.has_value();
  }
  [[nodiscard]] Result<std::vector<AddedToken>> take() {
    if (!outcome_) return fail(outcome_.error());
    return std::move(tokens_);
  }

 private:
  std::string file_;
  std::vector<AddedToken> tokens_;
  Result<void> outcome_;
};

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
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
  AddedTokens tokens(folder->locate(file_names::tokenizer));
  tokenizer.root()["added_tokens"].each_element(
      [&](JsonView token) { return tokens.add(token, token["id"].integer()); });
  return tokens.take();
}

Result<std::vector<AddedToken>> TokenizerFiles::tokens_of_config() const {
  AddedTokens tokens(folder->locate(file_names::tokenizer_config));
  tokenizer_config.root()["added_tokens_decoder"].each_member(
      [&](std::string_view id, JsonView token) { return tokens.add(token, number_in(id)); });
  return tokens.take();
}

Result<std::vector<AddedToken>> TokenizerFiles::tokens_of_added_file() const {
  std::vector<AddedToken> tokens;
  bool is_valid = true;
  added_tokens.root().each_member([&](std::string_view text, JsonView id) {
    is_valid = id.integer() && *id.integer() >= 0;
    if (is_valid) tokens.push_back({text, *id.integer(), false});
    return is_valid;
  });
  if (is_valid) return tokens;
  return refuse(folder->locate(file_names::added_tokens),
                "the id of an added token is no number from 0 on");
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
  if (std::find(known.begin(), known.end(), text) != known.end()) return true;
  return (text.starts_with("<|") && text.ends_with("|>")) ||
         (text.starts_with("<\xEF\xBD\x9C") && text.ends_with("\xEF\xBD\x9C>")) ||  // U+FF5C
         (text.starts_with("<unused") && text.ends_with(">"));
}

std::string with_spaces(std::string_view text) {
  std::string spaced;
  while (true) {
    const std::size_t at = text.find(space_letter);
    spaced += text.substr(0, at);
    if (at == std::string_view::npos) return spaced;
    spaced += ' ';
    text.remove_prefix(at + space_letter.size());
  }
}

}  // namespace ingot::hf
