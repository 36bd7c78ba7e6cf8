// SPDX-License-Identifier: MIT
#include "huggingface/tokenizer_json/tokenizer_document.hpp"

#include <utility>

#include "huggingface/folder/json_values.hpp"
#include "huggingface/import/tokenizer/tokenizer_files.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/summary.hpp"
#include "ingot/text.hpp"

namespace ingot::huggingface {
namespace {

using nlohmann::ordered_json;

ordered_json sequence(const char* list, ordered_json steps) {
  return {{"type", "Sequence"}, {list, std::move(steps)}};
}

ordered_json replace(const char* kind, std::string_view from, std::string_view to) {
  return {{"type", "Replace"}, {"pattern", {{kind, from}}}, {"content", to}};
}

ordered_json prepend_space() { return {{"type", "Prepend"}, {"prepend", space_letter}}; }

ordered_json bert_normalizer(const Model& model) {
  const bool lower = model.get_or<bool>("tokenizer.ggml.normalizer.lowercase", true);
  return {{"type", "BertNormalizer"},
          {"clean_text", true},
          {"handle_chinese_chars", true},
          {"strip_accents", model.get_or<bool>("tokenizer.ggml.normalizer.strip_accents", lower)},
          {"lowercase", lower}};
}

ordered_json normalizer(const TokenizerDocument& document) {
  const TokenizerFlags& flags = document.vocabulary.flags();
  const ordered_json escape = replace("String", " ", space_letter);
  ordered_json steps = ordered_json::array();
  switch (document.vocabulary.family()) {
    case TokenizerFamily::bpe:
      return flags.escapes_spaces ? escape : nullptr;
    case TokenizerFamily::wpm:
      return bert_normalizer(document.model);
    case TokenizerFamily::ugm: {
      const Value* charsmap = document.model.find(keys::tokenizer_ggml_precompiled_charsmap);
      if (charsmap != nullptr && charsmap->as_array().size() != 0) {
        steps.push_back({{"type", "Precompiled"},
                         {"precompiled_charsmap", base64_encode(charsmap->as_array().bytes())}});
      }
      if (flags.removes_extra_spaces) {
        steps.push_back(replace("Regex", "^ +| +$", ""));
        steps.push_back(replace("Regex", " {2,}", " "));
      }
      steps.push_back(escape);
      if (flags.has_space_prefix || flags.removes_extra_spaces) steps.push_back(prepend_space());
      return sequence("normalizers", std::move(steps));
    }
    default:
      if (flags.has_space_prefix) steps.push_back(prepend_space());
      steps.push_back(escape);
      return sequence("normalizers", std::move(steps));
  }
}

ordered_json byte_level(bool adds_prefix_space, bool uses_regex) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", adds_prefix_space},
          {"trim_offsets", true},
          {"use_regex", uses_regex}};
}

PreTokenizerFacts facts_of(const TokenizerDocument& document) {
  return facts_of_pre_tokenizer(document.vocabulary.pre_tokenizer()).value_or(PreTokenizerFacts{});
}

ordered_json pre_tokenizer(const TokenizerDocument& document) {
  if (document.vocabulary.family() == TokenizerFamily::wpm) return {{"type", "BertPreTokenizer"}};
  if (document.vocabulary.family() != TokenizerFamily::bpe) return nullptr;
  const PreTokenizerFacts facts = facts_of(document);
  ordered_json steps = ordered_json::array();
  for (const std::string_view expression : facts.expressions) {
    steps.push_back({{"type", "Split"},
                     {"pattern", {{"Regex", with_plain_characters(expression)}}},
                     {"behavior", "Isolated"},
                     {"invert", false}});
  }
  if (!facts.has_plain_text) steps.push_back(byte_level(false, false));
  return sequence("pretokenizers", std::move(steps));
}

ordered_json decoder(const TokenizerDocument& document) {
  const TokenizerFamily family = document.vocabulary.family();
  if (family == TokenizerFamily::wpm) {
    return {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  }
  if (family == TokenizerFamily::ugm) {
    return {{"type", "Metaspace"},
            {"replacement", space_letter},
            {"prepend_scheme", "always"},
            {"split", false}};
  }
  const bool is_bpe = family == TokenizerFamily::bpe;
  if (is_bpe && !facts_of(document).has_plain_text) return byte_level(true, true);
  ordered_json steps = {
      replace("String", space_letter, " "), {{"type", "ByteFallback"}}, {{"type", "Fuse"}}};
  if (!is_bpe && document.vocabulary.flags().has_space_prefix) {
    steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  }
  return sequence("decoders", std::move(steps));
}

/// A template of one text or of two.
class FrameTemplate {
 public:
  explicit FrameTemplate(const TokenizerDocument& document) : document_(document) {}

  ordered_json make() {
    const TextFrame& frame = document_.frame;
    if (!frame.first && !frame.last) return nullptr;
    ordered_json single = ordered_json::array();
    add_special(single, frame.first, 0);
    add_text(single, "A", 0);
    add_special(single, frame.last, 0);
    ordered_json pair = ordered_json::array();
    add_special(pair, frame.first, 0);
    add_text(pair, "A", 0);
    if (frame.separates_pairs) {
      add_special(pair, frame.last, 0);
      add_special(pair, frame.first, 1);
    }
    add_text(pair, "B", 1);
    add_special(pair, frame.last, 1);
    return {{"type", "TemplateProcessing"},
            {"single", std::move(single)},
            {"pair", std::move(pair)},
            {"special_tokens", std::move(described_)}};
  }

 private:
  static void add_text(ordered_json& list, const char* name, int type) {
    list.push_back({{"Sequence", {{"id", name}, {"type_id", type}}}});
  }

  void add_special(ordered_json& list, std::optional<std::uint32_t> id, int type) {
    if (!id) return;
    const std::string text(document_.tokens[*id].text);
    described_[text] = {
        {"id", text}, {"ids", ordered_json::array({*id})}, {"tokens", ordered_json::array({text})}};
    list.push_back({{"SpecialToken", {{"id", text}, {"type_id", type}}}});
  }

  const TokenizerDocument& document_;
  ordered_json described_ = ordered_json::object();
};

/// A text, or a list of named ones; null if there is none.
ordered_json chat_templates(const Model& model) {
  const auto text_of = [&](std::string_view key) -> ordered_json {
    const Value* const value = model.find(key);
    const auto text = value == nullptr ? Result<std::string_view>(std::string_view())
                                       : value->get<std::string_view>();
    return text && !text->empty() ? ordered_json(*text) : ordered_json();
  };
  ordered_json usual = text_of(keys::tokenizer_chat_template);
  const Value* const names = model.find(keys::tokenizer_chat_templates);
  if (names == nullptr) return usual;
  ordered_json list = ordered_json::array();
  const auto add = [&](std::string_view name, ordered_json text) {
    if (!text.is_null()) list.push_back({{"name", name}, {"template", std::move(text)}});
  };
  add("default", std::move(usual));
  for (const Value& value : names->as_array()) {
    const std::string_view name = value.get<std::string_view>().value_or("");
    add(name, text_of(std::string(keys::tokenizer_chat_template).append(".").append(name)));
  }
  return list;
}

}  // namespace

bool has_document(TokenizerFamily family) noexcept {
  return family == TokenizerFamily::bpe || family == TokenizerFamily::spm ||
         family == TokenizerFamily::wpm || family == TokenizerFamily::ugm;
}

std::string write_document(const TokenizerDocument& document, std::vector<std::string>& warnings) {
  std::string text = R"({"version": "1.0", "truncation": null, "padding": null, "added_tokens": [)";
  const char* separator = "\n";
  for (const std::uint32_t id : document.added) {
    const auto number = static_cast<TokenId>(id);
    text += std::exchange(separator, ",\n") +
            json_text({{"id", id},
                       {"content", document.tokens[id].text},
                       {"single_word", false},
                       {"lstrip", document.vocabulary.strips_left(number)},
                       {"rstrip", document.vocabulary.strips_right(number)},
                       {"normalized", false},
                       {"special", is_special(document.tokens[id].kind)}});
  }
  text += "],\n\"normalizer\": " + json_text(normalizer(document)) +
          ",\n\"pre_tokenizer\": " + json_text(pre_tokenizer(document)) +
          ",\n\"post_processor\": " + json_text(FrameTemplate(document).make()) +
          ",\n\"decoder\": " + json_text(decoder(document)) + ",\n\"model\": ";
  append_model(document, text, warnings);
  return text + "}\n";
}

ordered_json usual_configuration(const Model& model, const Vocabulary& vocabulary,
                                 std::string_view tokenizer_class, const ordered_json& named) {
  ordered_json config = {{"tokenizer_class", tokenizer_class}};
  if (!named.is_null()) config.update(named);
  config["clean_up_tokenization_spaces"] = vocabulary.flags().cleans_spaces;
  const Value* const context = find_architecture_key(model, suffixes::context_length);
  if (const auto count = context == nullptr ? 0 : context->get<std::uint64_t>().value_or(0)) {
    config["model_max_length"] = count;
  }
  if (ordered_json templates = chat_templates(model); !templates.is_null()) {
    config["chat_template"] = std::move(templates);
  }
  return config;
}

}  // namespace ingot::huggingface
