// SPDX-License-Identifier: MIT
// tokenizer.json from the tokens of a model.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "huggingface/export/json_values.hpp"
#include "huggingface/export/tokenizer_files_text.hpp"
#include "huggingface/import/tokenizer/tokenizer_files.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::huggingface {
namespace {

using nlohmann::ordered_json;
using Form = FolderVocabulary::Form;

ordered_json sequence(const char* list, ordered_json steps) {
  return {{"type", "Sequence"}, {list, std::move(steps)}};
}

ordered_json replace(std::string_view from, std::string_view to) {
  return {{"type", "Replace"}, {"pattern", {{"String", from}}}, {"content", to}};
}

bool is_inside_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// Writes the document. Its lists of tokens and merges are long: they go straight into the text.
class TokenizerJsonWriter {
 public:
  TokenizerJsonWriter(const FolderFacts& facts, const FolderVocabulary& vocabulary,
                      const TextFrame& frame)
      : facts_(facts),
        vocabulary_(vocabulary),
        frame_(frame),
        is_bpe_(vocabulary.form == Form::bpe),
        pre_(facts_of_pre_tokenizer(
                 facts.model.get_or<std::string_view>(keys::tokenizer_ggml_pre, ""))
                 .value_or(PreTokenizerFacts{})) {
    choose_ids();
  }

  std::string write() {
    text_ = R"({"version": "1.0", "truncation": null, "padding": null, "added_tokens": [)";
    write_listed();
    member("], \"normalizer\"", normalizer());
    member(", \"pre_tokenizer\"", pre_tokenizer());
    member(", \"post_processor\"", post_processor());
    member(", \"decoder\"", decoder());
    text_ += R"(, "model": {"type": "BPE", "dropout": null, "unk_token": )" + unknown_token() +
             R"(, "continuing_subword_prefix": null, "end_of_word_suffix": null, "fuse_unk": )" +
             (is_bpe_ ? "false" : "true") + R"(, "byte_fallback": )" +
             (is_bpe_ ? "false" : "true") + R"(, "ignore_merges": )" +
             (is_bpe_ && pre_.ignores_merges ? "true" : "false") + ", \"vocab\": {";
    write_vocabulary();
    text_ += "}, \"merges\": [";
    is_bpe_ ? write_merges() : make_merges();
    return text_ + "]}}\n";
  }

 private:
  void member(std::string_view name, const ordered_json& value) {
    text_.append(name).append(": ").append(json_text(value));
  }

  /// A text is the token of one id: of several, of one that was trained.
  void choose_ids() {
    const auto count = static_cast<std::uint32_t>(vocabulary_.form == Form::llama_json
                                                      ? vocabulary_.trained_count
                                                      : vocabulary_.tokens.size());
    for (const bool is_normal : {true, false}) {
      for (std::uint32_t id = 0; id < count; ++id) {
        const FolderToken& token = vocabulary_.tokens[id];
        const bool is_left_out =
            vocabulary_.fills_up(id) && (is_bpe_ || id >= vocabulary_.trained_count);
        if (is_left_out || (token.kind == TokenKind::normal) != is_normal) continue;
        ids_.emplace(token.text, id);
      }
    }
  }

  bool is_first_of_text(std::uint32_t id) const {
    const auto found = ids_.find(vocabulary_.tokens[id].text);
    return found != ids_.end() && found->second == id;
  }

  void write_listed() {
    const char* separator = "\n";
    for (const std::uint32_t id : vocabulary_.listed) {
      text_ += separator + json_text({{"id", id},
                                      {"content", vocabulary_.tokens[id].text},
                                      {"single_word", false},
                                      {"lstrip", false},
                                      {"rstrip", false},
                                      {"normalized", false},
                                      {"special", vocabulary_.is_special(id)}});
      separator = ",\n";
    }
  }

  bool has_space_prefix() const {
    return facts_.model.get_or<bool>(keys::tokenizer_ggml_add_space_prefix, true);
  }

  ordered_json normalizer() const {
    if (is_bpe_) return nullptr;
    ordered_json steps = ordered_json::array();
    if (has_space_prefix()) steps.push_back({{"type", "Prepend"}, {"prepend", space_letter}});
    steps.push_back(replace(" ", space_letter));
    return sequence("normalizers", std::move(steps));
  }

  ordered_json pre_tokenizer() const {
    if (!is_bpe_) return nullptr;
    ordered_json steps = ordered_json::array();
    for (const std::string_view expression : pre_.expressions) {
      steps.push_back({{"type", "Split"},
                       {"pattern", {{"Regex", with_plain_characters(expression)}}},
                       {"behavior", "Isolated"},
                       {"invert", false}});
    }
    steps.push_back({{"type", "ByteLevel"},
                     {"add_prefix_space", false},
                     {"trim_offsets", true},
                     {"use_regex", false}});
    return sequence("pretokenizers", std::move(steps));
  }

  ordered_json decoder() const {
    if (is_bpe_) {
      return {{"type", "ByteLevel"},
              {"add_prefix_space", true},
              {"trim_offsets", true},
              {"use_regex", true}};
    }
    ordered_json steps = {
        replace(space_letter, " "), {{"type", "ByteFallback"}}, {{"type", "Fuse"}}};
    if (has_space_prefix()) {
      steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
    }
    return sequence("decoders", std::move(steps));
  }

  ordered_json post_processor() const {
    if (!frame_.first && !frame_.last) return nullptr;
    ordered_json described = ordered_json::object();
    const auto special = [&](std::uint32_t id, int type) {
      const std::string text(vocabulary_.tokens[id].text);
      described[text] = {{"id", text},
                         {"ids", ordered_json::array({id})},
                         {"tokens", ordered_json::array({text})}};
      return ordered_json({{"SpecialToken", {{"id", text}, {"type_id", type}}}});
    };
    const auto text = [](const char* id, int type) {
      return ordered_json({{"Sequence", {{"id", id}, {"type_id", type}}}});
    };
    ordered_json single = ordered_json::array();
    ordered_json pair = ordered_json::array();
    if (frame_.first) {
      single.push_back(special(*frame_.first, 0));
      pair.push_back(special(*frame_.first, 0));
    }
    single.push_back(text("A", 0));
    pair.push_back(text("A", 0));
    if (frame_.first && frame_.separates_pairs) pair.push_back(special(*frame_.first, 1));
    pair.push_back(text("B", 1));
    if (frame_.last) {
      single.push_back(special(*frame_.last, 0));
      pair.push_back(special(*frame_.last, 1));
    }
    return {{"type", "TemplateProcessing"},
            {"single", std::move(single)},
            {"pair", std::move(pair)},
            {"special_tokens", std::move(described)}};
  }

  std::string unknown_token() const {
    if (is_bpe_) return "null";
    const auto id = facts_.model.get_or<std::uint32_t>(keys::tokenizer_ggml_unknown_token_id, 0);
    const bool is_known = id < vocabulary_.tokens.size();
    return is_known ? json_text(vocabulary_.tokens[id].text) : "null";
  }

  void write_vocabulary() {
    const char* separator = "\n";
    for (std::uint32_t id = 0; id < vocabulary_.tokens.size(); ++id) {
      if (!is_first_of_text(id)) continue;
      text_ += separator + json_text(vocabulary_.tokens[id].text) + ": " + std::to_string(id);
      separator = ",\n";
    }
  }

  void write_merge(std::string_view left, std::string_view right) {
    text_ +=
        (text_.back() == '[' ? "\n[" : ",\n[") + json_text(left) + ", " + json_text(right) + "]";
  }

  /// The merges of the model. An entry that is no pair is written as its text.
  void write_merges() {
    const Value* const merges = facts_.model.find(keys::tokenizer_ggml_merges);
    if (merges == nullptr) return;
    for (const Value& value : merges->as_array()) {
      const std::string_view merge = value.get<std::string_view>().value_or("");
      const std::size_t space = merge.find(' ');
      const bool is_pair = space != merge.npos && merge.find(' ', space + 1) == merge.npos;
      if (is_pair) {
        write_merge(merge.substr(0, space), merge.substr(space + 1));
      } else {
        text_ += (text_.back() == '[' ? "\n" : ",\n") + json_text(merge);
      }
    }
  }

  struct Merge {
    float score = 0;
    std::uint32_t product = 0;
    std::uint32_t left = 0;
    std::uint32_t right = 0;
  };

  /// The merges that scores stand for: every two tokens that are a token, the highest score first.
  void make_merges() {
    std::vector<Merge> merges;
    for (std::uint32_t id = 0; id < vocabulary_.tokens.size(); ++id) {
      const TokenKind kind = vocabulary_.tokens[id].kind;
      const bool is_made =
          kind != TokenKind::control && kind != TokenKind::unknown && kind != TokenKind::byte;
      if (is_made && is_first_of_text(id)) add_merges(id, merges);
    }
    std::ranges::sort(merges, [](const Merge& a, const Merge& b) {
      return std::tuple(-a.score, a.product, a.left, a.right) <
             std::tuple(-b.score, b.product, b.left, b.right);
    });
    for (const Merge& merge : merges) {
      write_merge(vocabulary_.tokens[merge.left].text, vocabulary_.tokens[merge.right].text);
    }
  }

  void add_merges(std::uint32_t id, std::vector<Merge>& merges) const {
    const std::string_view text = vocabulary_.tokens[id].text;
    if (text.size() > max_merged_bytes) return;
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (is_inside_character(text[i])) continue;
      const auto left = ids_.find(text.substr(0, i));
      const auto right = ids_.find(text.substr(i));
      if (left == ids_.end() || right == ids_.end()) continue;
      merges.push_back({vocabulary_.tokens[id].score, id, left->second, right->second});
    }
  }

  /// Longer than any token that merges make; a hostile one would take quadratic time.
  static constexpr std::size_t max_merged_bytes = 512;

  const FolderFacts& facts_;
  const FolderVocabulary& vocabulary_;
  const TextFrame& frame_;
  bool is_bpe_;
  PreTokenizerFacts pre_;
  std::unordered_map<std::string_view, std::uint32_t> ids_;  // ids of model.vocab
  std::string text_;
};

}  // namespace

std::string make_tokenizer_json(const FolderFacts& facts, const FolderVocabulary& vocabulary,
                                const TextFrame& frame) {
  return TokenizerJsonWriter(facts, vocabulary, frame).write();
}

}  // namespace ingot::huggingface
