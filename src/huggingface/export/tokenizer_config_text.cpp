// SPDX-License-Identifier: MIT
// tokenizer_config.json and added_tokens.json.
#include <nlohmann/json.hpp>
#include <string>

#include "huggingface/export/tokenizer_files_text.hpp"
#include "huggingface/folder/json_values.hpp"
#include "huggingface/import/tokenizer/pre_check.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::huggingface {
namespace {

using nlohmann::ordered_json;

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
                       {"special", is_special(vocabulary.tokens[id].kind)}});
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
                                  const Vocabulary& tokens, const FolderVocabulary& vocabulary,
                                  const SpecialTokensPlan& special, std::string_view stated_pre) {
  ordered_json config = usual_configuration(
      facts.model, tokens, tokenizer_class(facts, rule, vocabulary), special.named);
  if (has_tokenizer_step(facts.architecture, "llama") ||
      has_tokenizer_step(facts.architecture, "space_prefix")) {
    const Value* const prefix = facts.model.find(keys::tokenizer_ggml_add_space_prefix);
    if (prefix != nullptr) config["add_prefix_space"] = json_of(*prefix);
  }
  if (!stated_pre.empty()) config[std::string(stated_pre_member)] = stated_pre;
  // If all tokens have one score, only these names mark the special ones.
  if (vocabulary.form == FolderVocabulary::Form::llama_json) {
    ordered_json& specials = config["additional_special_tokens"] = ordered_json::array();
    for (const std::uint32_t id : vocabulary.listed) {
      const DocumentToken& token = vocabulary.tokens[id];
      if (is_special(token.kind)) specials.push_back(token.text);
    }
  }
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
