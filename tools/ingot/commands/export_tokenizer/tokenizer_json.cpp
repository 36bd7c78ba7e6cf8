// SPDX-License-Identifier: MIT
#include "commands/export_tokenizer/tokenizer_json.hpp"

#include <array>
#include <ingot/metadata_keys.hpp>
#include <ingot/text.hpp>
#include <utility>

#include "commands/export_tokenizer/tokenizer_json_parts.hpp"

namespace ingot::cli {
namespace {

constexpr std::array all_parts = {&bpe_parts, &spm_parts, &wpm_parts, &ugm_parts};

const FamilyParts* find_parts(TokenizerFamily family) {
  for (const FamilyParts* parts : all_parts) {
    if (parts->family == family) return parts;
  }
  return nullptr;
}

bool is_special(TokenKind kind) { return kind == TokenKind::control || kind == TokenKind::unknown; }

void write_added_tokens(JsonStream& json, const Vocabulary& vocabulary) {
  const auto tokens = json.array("added_tokens");
  for (TokenId id = 0; vocabulary.contains(id); ++id) {
    const TokenKind kind = vocabulary.kind(id);
    if (!is_special(kind) && kind != TokenKind::user_defined) continue;
    const auto object = json.object(Layout::line);
    json.member("id", id);
    json.member("content", vocabulary.text(id));
    json.member("single_word", false);
    json.member("lstrip", vocabulary.strips_left(id));
    json.member("rstrip", vocabulary.strips_right(id));
    json.member("normalized", false);
    json.member("special", is_special(kind));
  }
}

/// The tokens before and after every text; no_token: none.
std::pair<TokenId, TokenId> frame_of(const Vocabulary& vocabulary) {
  const TokenizerFlags& flags = vocabulary.flags();
  if (vocabulary.family() == TokenizerFamily::wpm) {
    return {vocabulary.special(SpecialToken::bos), vocabulary.special(SpecialToken::sep)};
  }
  return {flags.adds_bos ? vocabulary.special(SpecialToken::bos) : no_token,
          flags.adds_eos ? vocabulary.special(SpecialToken::eos) : no_token};
}

class Template {
 public:
  Template(JsonStream& json, const Vocabulary& vocabulary)
      : json_(json), vocabulary_(vocabulary), frame_(frame_of(vocabulary)) {}

  void write() {
    json_.key("post_processor");
    if (frame_.first == no_token && frame_.second == no_token) return json_.null();
    begin_typed(json_, "TemplateProcessing");
    write_texts("single", {{"A", 0}});
    write_texts("pair", {{"A", 0}, {"B", 1}});
    json_.begin_object("special_tokens");
    describe(frame_.first);
    if (frame_.second != frame_.first) describe(frame_.second);
    json_.end();
    json_.end();
  }

 private:
  using Texts = std::vector<std::pair<std::string_view, std::uint32_t>>;

  void write_texts(std::string_view name, const Texts& texts) {
    const auto array = json_.array(name);
    for (const auto& [text, type_id] : texts) {
      write_special(frame_.first, type_id);
      write_item("Sequence", text, type_id);
      write_special(frame_.second, type_id);
    }
  }
  void write_special(TokenId id, std::uint32_t type_id) {
    if (id != no_token) write_item("SpecialToken", vocabulary_.text(id), type_id);
  }
  void write_item(std::string_view kind, std::string_view id, std::uint32_t type_id) {
    const auto item = json_.object(Layout::line);
    const auto content = json_.object(kind);
    json_.member("id", id);
    json_.member("type_id", type_id);
  }
  void describe(TokenId id) {
    if (id == no_token) return;
    const std::string_view text = vocabulary_.text(id);
    const auto object = json_.object(text, Layout::line);
    json_.member("id", text);
    json_.values("ids", std::array{id});
    json_.values("tokens", std::array{text});
  }

  JsonStream& json_;
  const Vocabulary& vocabulary_;
  std::pair<TokenId, TokenId> frame_;
};

}  // namespace

Result<void> check_expressible(const TokenizerSource& source) {
  const Vocabulary& vocabulary = source.tokenizer;
  const std::string_view name = vocabulary.model_name();
  const bool is_other_bpe = name == "hybriddna" || name == "whitespace";
  if (find_parts(vocabulary.family()) == nullptr || is_other_bpe) {
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

void write_tokenizer_json(JsonStream& json, TokenizerSource& source) {
  const Vocabulary& vocabulary = source.tokenizer;
  const FamilyParts& parts = *find_parts(vocabulary.family());
  const auto object = json.object();
  json.member("version", "1.0");
  json.member("truncation", nullptr);
  json.member("padding", nullptr);
  write_added_tokens(json, vocabulary);
  json.key("normalizer");
  parts.normalizer(json, source);
  json.key("pre_tokenizer");
  parts.pre_tokenizer(json, source);
  Template(json, vocabulary).write();
  json.key("decoder");
  parts.decoder(json, source);
  json.key("model");
  parts.model(json, source);
}

// --- values that several families have -----------------------------------------------------------

void begin_typed(JsonStream& json, std::string_view type) {
  json.begin_object();
  json.member("type", type);
}

namespace {

void write_pattern(JsonStream& json, std::string_view kind, std::string_view from,
                   std::string_view to) {
  begin_typed(json, "Replace");
  json.begin_object("pattern", Layout::line);
  json.member(kind, from);
  json.end();
  json.member("content", to);
  json.end();
}

}  // namespace

void write_replace(JsonStream& json, std::string_view from, std::string_view to) {
  write_pattern(json, "String", from, to);
}

void write_replace_regex(JsonStream& json, std::string_view from, std::string_view to) {
  write_pattern(json, "Regex", from, to);
}

void write_byte_fallback(JsonStream& json) {
  begin_typed(json, "ByteFallback");
  json.end();
  begin_typed(json, "Fuse");
  json.end();
}

void write_prepend(JsonStream& json) {
  begin_typed(json, "Prepend");
  json.member("prepend", space_symbol);
  json.end();
}

void write_bpe_options(JsonStream& json, std::string_view unknown, bool fuses_unknown,
                       bool has_byte_fallback, bool ignores_merges) {
  begin_typed(json, "BPE");
  for (const char* name : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"}) {
    json.member(name, nullptr);
  }
  json.text_or_null("unk_token", unknown);
  json.member("fuse_unk", fuses_unknown);
  json.member("byte_fallback", has_byte_fallback);
  json.member("ignore_merges", ignores_merges);
}

void write_vocabulary(JsonStream& json, const Vocabulary& vocabulary) {
  const auto object = json.object("vocab");
  for_each_text(vocabulary, [&](TokenId id, std::string_view text) { json.member(text, id); });
}

void write_merge(JsonStream& json, std::string_view left, std::string_view right) {
  const auto array = json.array(Layout::line);
  json.value(left);
  json.value(right);
}

}  // namespace ingot::cli
