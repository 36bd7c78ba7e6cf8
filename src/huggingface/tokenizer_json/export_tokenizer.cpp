// SPDX-License-Identifier: MIT
// The files of a tokenizer alone.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "huggingface/folder/json_values.hpp"
#include "huggingface/import/tokenizer/tokenizer_files.hpp"
#include "huggingface/tokenizer_json/tokenizer_document.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/output_set.hpp"
#include "ingot/text.hpp"
#include "ingot/tokenizer_export.hpp"

namespace ingot {
namespace huggingface {
namespace {

using nlohmann::ordered_json;

/// The special tokens that configuration files name.
constexpr std::pair<const char*, SpecialToken> named_tokens[] = {
    {"bos_token", SpecialToken::bos}, {"eos_token", SpecialToken::eos},
    {"unk_token", SpecialToken::unk}, {"sep_token", SpecialToken::sep},
    {"pad_token", SpecialToken::pad}, {"mask_token", SpecialToken::mask}};

ordered_json names_of_specials(const Vocabulary& vocabulary) {
  ordered_json names = ordered_json::object();
  for (const auto& [name, special] : named_tokens) {
    const TokenId id = vocabulary.special(special);
    if (id != no_token) names[name] = vocabulary.text(id);
  }
  // BERT calls its first token by another name, too.
  if (vocabulary.family() == TokenizerFamily::wpm && names.contains("bos_token")) {
    names["cls_token"] = names["bos_token"];
  }
  return names;
}

Result<void> check_expressible(const Vocabulary& vocabulary) {
  const std::string_view name = vocabulary.model_name();
  const bool is_other_bpe = name == "hybriddna" || name == "whitespace";
  if (!has_document(vocabulary.family()) || is_other_bpe) {
    return fail(Errc::tokenizer_unknown, std::string(keys::tokenizer_ggml_model),
                "tokenizer.json has no form for the family " +
                    std::string(is_other_bpe ? name : name_of(vocabulary.family())));
  }
  for (TokenId id = 0; vocabulary.contains(id); ++id) {
    if (is_utf8(vocabulary.text(id))) continue;
    return fail(Errc::tokenizer_invalid, std::string(keys::tokenizer_ggml_tokens),
                "tokenizer.json holds UTF-8 only, but token " + std::to_string(id) + " is \"" +
                    std::string(vocabulary.text(id).substr(0, 40)) + "\"");
  }
  return {};
}

TextFrame frame_of(const Vocabulary& vocabulary) {
  const TokenizerFlags& flags = vocabulary.flags();
  const bool is_wpm = vocabulary.family() == TokenizerFamily::wpm;
  const auto token_if = [&](bool is_added, SpecialToken special) -> std::optional<std::uint32_t> {
    const TokenId id = vocabulary.special(special);
    if (!is_added || id == no_token) return std::nullopt;
    return static_cast<std::uint32_t>(id);
  };
  return {
      .first = token_if(is_wpm || flags.adds_bos, SpecialToken::bos),
      .last = token_if(is_wpm || flags.adds_eos, is_wpm ? SpecialToken::sep : SpecialToken::eos),
      .separates_pairs = true};
}

std::string document_of(const Model& model, const Vocabulary& vocabulary,
                        std::vector<std::string>& warnings) {
  std::vector<DocumentToken> tokens;
  std::unordered_map<std::string_view, std::uint32_t> ids;
  std::vector<std::uint32_t> added;
  tokens.reserve(vocabulary.size());
  ids.reserve(vocabulary.size());
  for (TokenId id = 0; vocabulary.contains(id); ++id) {
    const auto number = static_cast<std::uint32_t>(id);
    const TokenKind kind = vocabulary.kind(id);
    tokens.push_back({vocabulary.text(id), vocabulary.score(id), kind});
    ids.emplace(vocabulary.text(id), number);
    if (is_special(kind) || kind == TokenKind::user_defined) added.push_back(number);
  }
  return write_document({model, vocabulary, tokens, ids, added, frame_of(vocabulary)}, warnings);
}

std::string lines_of(const ordered_json& value) { return json_text(value, json_indent) + "\n"; }

}  // namespace
}  // namespace huggingface

Result<TokenizerExport> export_tokenizer(const Model& model, const Tokenizer& tokenizer) {
  INGOT_TRY_VOID(huggingface::check_expressible(tokenizer));
  const nlohmann::ordered_json names = huggingface::names_of_specials(tokenizer);
  nlohmann::ordered_json named = names;
  named["add_bos_token"] = tokenizer.flags().adds_bos;
  named["add_eos_token"] = tokenizer.flags().adds_eos;
  TokenizerExport files;
  files.configuration = huggingface::lines_of(
      huggingface::usual_configuration(model, tokenizer, "PreTrainedTokenizerFast", named));
  files.special_tokens = huggingface::lines_of(names);
  files.chat_template = model.get_or<std::string_view>(keys::tokenizer_chat_template, "");
  files.tokenizer = huggingface::document_of(model, tokenizer, files.warnings);
  return files;
}

Result<void> TokenizerExport::write(const std::string& path, bool may_replace) const {
  const std::filesystem::path out = path;
  const bool is_file = out.extension() == ".json";
  const std::filesystem::path folder = is_file ? out.parent_path() : out;
  const auto beside = [&](std::string_view name) { return (folder / name).generic_string(); };
  OutputSet outputs(may_replace);
  INGOT_TRY_VOID(outputs.make_folder(folder.generic_string()));
  INGOT_TRY_VOID(
      outputs.add_text(beside(huggingface::file_names::tokenizer_config), configuration));
  INGOT_TRY_VOID(outputs.add_text(beside(huggingface::file_names::special_tokens), special_tokens));
  const std::string template_path = beside("chat_template.jinja");
  INGOT_TRY_VOID(chat_template.empty() ? outputs.drop(template_path)
                                       : outputs.add_text(template_path, chat_template));
  // Readers look for this file, so it is the last one.
  INGOT_TRY_VOID(
      outputs.add_text(is_file ? path : beside(huggingface::file_names::tokenizer), tokenizer));
  return outputs.commit();
}

}  // namespace ingot
