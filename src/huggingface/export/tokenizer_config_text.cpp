// SPDX-License-Identifier: MIT
// tokenizer_config.json and added_tokens.json.
#include <nlohmann/json.hpp>
#include <string>

#include "huggingface/export/json_values.hpp"
#include "huggingface/export/tokenizer_files_text.hpp"
#include "huggingface/import/tokenizer/pre_check.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/summary.hpp"

namespace ingot::huggingface {
namespace {

using nlohmann::ordered_json;

/// A text, or a list of named ones; null if there is none.
ordered_json chat_template(const Model& model) {
  const Value* const usual = model.find(keys::tokenizer_chat_template);
  const Value* const names = model.find(keys::tokenizer_chat_templates);
  if (names == nullptr) return usual == nullptr ? ordered_json() : json_of(*usual);
  ordered_json list = ordered_json::array();
  if (usual != nullptr) list.push_back({{"name", "default"}, {"template", json_of(*usual)}});
  for (const Value& value : names->as_array()) {
    const std::string name(value.get<std::string_view>().value_or(""));
    const Value* const text = model.find(std::string(keys::tokenizer_chat_template) + "." + name);
    if (text != nullptr) list.push_back({{"name", name}, {"template", json_of(*text)}});
  }
  return list;
}

/// The members of `added_tokens_decoder`. There can be very many, so they are text at once.
std::string decoder_text(const FolderVocabulary& vocabulary) {
  std::string text;
  for (const std::uint32_t id : vocabulary.decoded) {
    text += (text.empty() ? "\n    \"" : ",\n    \"") + std::to_string(id) + "\": " +
            json_text({{"content", vocabulary.tokens[id].text},
                       {"lstrip", false},
                       {"normalized", false},
                       {"rstrip", false},
                       {"single_word", false},
                       {"special", vocabulary.is_special(id)}});
  }
  return text;
}

/// The class of the library that reads the files.
std::string tokenizer_class(const FolderFacts& facts, const FolderRule& rule,
                            const FolderVocabulary& vocabulary) {
  if (vocabulary.form != FolderVocabulary::Form::bpe) return rule.tokenizer_class;
  // The import of Phi-3 recognises by this name a vocabulary that is not of SentencePiece.
  if (has_tokenizer_step(facts.architecture, "phi3")) return "GPT2Tokenizer";
  return "PreTrainedTokenizerFast";
}

}  // namespace

std::string make_tokenizer_config(const FolderFacts& facts, const FolderRule& rule,
                                  const FolderVocabulary& vocabulary,
                                  const SpecialTokensPlan& special, std::string_view stated_pre) {
  ordered_json config = {{"tokenizer_class", tokenizer_class(facts, rule, vocabulary)}};
  if (!special.named.is_null()) config.update(special.named);
  if (has_tokenizer_step(facts.architecture, "llama")) {
    const Value* const prefix = facts.model.find(keys::tokenizer_ggml_add_space_prefix);
    if (prefix != nullptr) config["add_prefix_space"] = json_of(*prefix);
  }
  if (!stated_pre.empty()) config[std::string(stated_pre_member)] = stated_pre;
  ordered_json specials = ordered_json::array();
  for (const std::uint32_t id : vocabulary.listed) {
    if (vocabulary.is_special(id)) specials.push_back(vocabulary.tokens[id].text);
  }
  // If all tokens have one score, only these names mark the special ones.
  if (vocabulary.form == FolderVocabulary::Form::llama_json) {
    config["additional_special_tokens"] = std::move(specials);
  }
  config["clean_up_tokenization_spaces"] = false;
  if (const Value* const context = find_architecture_key(facts.model, suffixes::context_length)) {
    config["model_max_length"] = json_of(*context);
  }
  ordered_json templates = chat_template(facts.model);
  if (!templates.is_null()) config["chat_template"] = std::move(templates);
  std::string text = json_text(config, json_indent);
  text.resize(text.rfind('\n'));
  return text + ",\n  \"added_tokens_decoder\": {" + decoder_text(vocabulary) + "}\n}\n";
}

std::string make_added_tokens(const FolderVocabulary& vocabulary) {
  std::string text;
  for (const std::uint32_t id : vocabulary.plain) {
    text += (text.empty() ? "{\n  " : ",\n  ") + json_text(vocabulary.tokens[id].text) + ": " +
            std::to_string(id);
  }
  return text.empty() ? text : text + "\n}\n";
}

}  // namespace ingot::huggingface
