// SPDX-License-Identifier: MIT
// The steps for vocabularies that programs beside the weights read.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tokenizer/ranked_tokens.hpp"
#include "huggingface/import/tokenizer/tokenizer_writer.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::huggingface {

Result<void> TokenizerWriter::write_ranked_tokens(const RankedFile& file,
                                                  const RankedTokens& ranked) {
  keys_.from("the architecture");
  keys_.set_string(keys::tokenizer_ggml_model, "gpt2");
  keys_.from(options_.pre ? "--pre" : "the architecture");
  keys_.set_string(keys::tokenizer_ggml_pre, options_.pre.value_or(std::string(file.pre)));
  keys_.from(std::string(file.name));
  keys_.set_array(keys::tokenizer_ggml_tokens, std::span<const std::string>(ranked.tokens.texts));
  keys_.set_array(keys::tokenizer_ggml_token_type,
                  std::span<const std::int32_t>(ranked.tokens.kinds));
  return {};
}

Result<void> TokenizerWriter::ranked() {
  const auto file = find_ranked_file(folder_);
  if (!file) return refuse(folder_.locate({}), "no tokenizer: a file of ranks is needed");
  INGOT_TRY(const RankedTokens ranked, read_ranked_tokens(files_, config_, file->name));
  INGOT_TRY_VOID(write_ranked_tokens(*file, ranked));
  keys_.set_array(keys::tokenizer_ggml_merges, std::span<const std::string>(ranked.merges));
  INGOT_TRY(const SpecialBlock block, read_block({}));
  block.write(keys_);
  return {};
}

bool TokenizerWriter::has_ranks_alone() const {
  return !files_.tokenizer.root().exists() && !folder_.has(file_names::vocabulary) &&
         find_ranked_file(folder_).has_value();
}

Result<void> TokenizerWriter::ranked_end() {
  if (!has_ranks_alone()) return {};
  INGOT_TRY(const auto specials, files_.tokens_of_config());
  const auto end = std::ranges::find(specials, std::string_view("[EOS]"), &AddedToken::text);
  if (end == specials.end()) return {};
  keys_.from(std::string(file_names::tokenizer_config));
  keys_.set(keys::tokenizer_ggml_eos_token_id, static_cast<std::uint32_t>(end->id));
  return {};
}

Result<void> TokenizerWriter::qwen1() {
  const auto file = find_ranked_file(folder_);
  if (files_.tokenizer.root().exists() || !file) return gpt2();
  INGOT_TRY(const RankedTokens ranked, read_ranked_tokens(files_, config_, file->name));
  INGOT_TRY_VOID(write_ranked_tokens(*file, ranked));
  INGOT_TRY(SpecialBlock block, read_block({}));
  block.set_merges(ranked.merges);
  const auto end = std::ranges::find(ranked.tokens.texts, "<|endoftext|>");
  if (end != ranked.tokens.texts.end()) {
    const std::int64_t id = end - ranked.tokens.texts.begin();
    if (!block.has_ids()) {
      block.offer("bos", id);
      block.offer("eos", id);
    }
    block.offer("unk", id);
  }
  block.write(keys_);
  return {};
}

Result<void> TokenizerWriter::hunyuan_moe() {
  if (!has_ranks_alone()) return gpt2();
  constexpr std::uint32_t bos = 127'959;  // config.json names another one
  INGOT_TRY_VOID(ranked());
  keys_.from("the architecture");
  keys_.set(keys::tokenizer_ggml_bos_token_id, bos);
  return {};
}

Result<void> TokenizerWriter::mistral() {
  INGOT_TRY(const MistralTokens read, read_mistral_tokens(files_));
  const TokenList& tokens = read.tokens;
  keys_.from("the architecture");
  keys_.set_string(keys::tokenizer_ggml_model, read.is_tekken ? "gpt2" : "llama");
  if (read.is_tekken) {
    keys_.from(options_.pre ? "--pre" : "the architecture");
    keys_.set_string(keys::tokenizer_ggml_pre, options_.pre.value_or("tekken"));
    keys_.from(read.file);
    keys_.set_array(keys::tokenizer_ggml_merges, std::span<const std::string>(read.merges));
  }
  keys_.from(read.file);
  keys_.set(keys::tokenizer_ggml_bos_token_id, read.bos);
  keys_.set(keys::tokenizer_ggml_eos_token_id, read.eos);
  keys_.set(keys::tokenizer_ggml_unknown_token_id, read.unknown);
  keys_.set(keys::tokenizer_ggml_padding_token_id, read.padding);
  keys_.set_array(keys::tokenizer_ggml_tokens, std::span<const std::string>(tokens.texts));
  if (read.is_tekken && options_.as_reference) {
    // Zeros that are integers there, whose bits are those of floats.
    const std::vector<std::int32_t> zeros(tokens.size());
    keys_.set_array(keys::tokenizer_ggml_scores, std::span<const std::int32_t>(zeros));
  } else {
    keys_.set_array(keys::tokenizer_ggml_scores, std::span<const float>(tokens.scores));
  }
  keys_.set_array(keys::tokenizer_ggml_token_type, std::span<const std::int32_t>(tokens.kinds));
  keys_.set(architecture_ + ".vocab_size", static_cast<std::uint32_t>(tokens.size()));
  INGOT_TRY_VOID(add_bos());
  INGOT_TRY_VOID(set_switch(keys::tokenizer_ggml_add_eos_token, false));
  return write_mistral_template(read);
}

Result<void> TokenizerWriter::write_mistral_template(const MistralTokens& read) {
  constexpr std::string_view own = "chat_template.jinja";
  if (folder_.has(own)) {
    INGOT_TRY(const std::string text, folder_.read_text(own));
    keys_.from(std::string(own));
    if (!text.empty()) keys_.set_string(keys::tokenizer_chat_template, text);
    return {};
  }
  const bool has_two = read.version == "v3" || read.version == "v7";
  if (!has_two && (read.version != "v1" || read.is_tekken)) {
    remarks_.push_back({Errc::left_out, Error::no_offset, folder_.locate(read.file),
                        "no chat template is known for its version " + read.version +
                            "; a file chat_template.jinja beside it would be taken"});
    return {};
  }
  keys_.from(read.file);
  keys_.set_string(keys::tokenizer_chat_template,
                   "mistral-" + read.version + (read.is_tekken ? "-tekken" : ""));
  return {};
}

Result<void> TokenizerWriter::rwkv() {
  constexpr std::int64_t two_line_feeds = 261;  // ends a turn
  INGOT_TRY(const TokenList tokens, read_rwkv_tokens(files_, config_));
  keys_.from("the architecture");
  keys_.set_string(keys::tokenizer_ggml_model, "rwkv");
  keys_.from(std::string(rwkv_file));
  keys_.set_array(keys::tokenizer_ggml_tokens, std::span<const std::string>(tokens.texts));
  keys_.set_array(keys::tokenizer_ggml_token_type, std::span<const std::int32_t>(tokens.kinds));
  INGOT_TRY(SpecialBlock block, read_block({}));
  block.offer("eot", two_line_feeds);
  block.replace("bos", 0);
  block.replace("eos", 0);
  block.write(keys_);
  return {};
}

Result<void> TokenizerWriter::plamo() {
  constexpr std::array<std::string_view, 5> kinds = {"bos", "eos", "pad", "sep", "unk"};
  constexpr std::uint32_t turn_end = 4;  // <|plamo:op|>
  INGOT_TRY(const TokenList tokens, read_plamo_tokens(files_, config_));
  keys_.from("the architecture");
  keys_.set_string(keys::tokenizer_ggml_model, "plamo2");
  keys_.set_string(keys::tokenizer_ggml_pre, "default");
  keys_.from(std::string(plamo_file));
  keys_.set_array(keys::tokenizer_ggml_tokens, std::span<const std::string>(tokens.texts));
  keys_.set_array(keys::tokenizer_ggml_scores, std::span<const float>(tokens.scores));
  keys_.set_array(keys::tokenizer_ggml_token_type, std::span<const std::int32_t>(tokens.kinds));
  SpecialBlock block;
  for (const std::string_view kind : kinds) {
    const JsonView token = tokenizer_config()[std::string(kind) + "_token"];
    if (!token.exists() || token.is_null()) continue;
    const auto found = std::ranges::find(tokens.texts, content_of(token));
    if (found == tokens.texts.end()) {
      return refuse(folder_.locate(file_names::tokenizer_config),
                    "no token has the text of the " + std::string(kind) + " token");
    }
    block.offer(kind, found - tokens.texts.begin());
  }
  block.offer("eot", turn_end);
  block.write(keys_);
  return no_space_prefix();
}

Result<void> TokenizerWriter::template_last() {
  INGOT_TRY(const ChatTemplates templates, ChatTemplates::read(files_));
  templates.write(keys_);
  return {};
}

Result<void> TokenizerWriter::template_of_file() {
  INGOT_TRY(const ChatTemplates templates, ChatTemplates::read_file(folder_));
  templates.write(keys_);
  return {};
}

Result<void> TokenizerWriter::assistant_end() {
  const auto texts = keys_.find(keys::tokenizer_ggml_tokens);
  const auto stored = keys_.find(keys::tokenizer_ggml_token_type);
  if (!texts || !stored) return {};
  std::vector<std::int32_t> kinds;
  for (const Value& kind : stored->as_array()) {
    kinds.push_back(kind.get<std::int32_t>().value_or(0));
  }
  for (std::size_t id = 0; id < kinds.size(); ++id) {
    const auto text = texts->as_array()[id].get<std::string_view>();
    if (text.value_or("") == "</assistant>") {
      kinds[id] = static_cast<std::int32_t>(TokenKind::control);
    }
  }
  keys_.set_array(keys::tokenizer_ggml_token_type, std::span<const std::int32_t>(kinds));
  return {};
}

Result<void> TokenizerWriter::none() {
  keys_.from("the architecture");
  keys_.set_string(keys::tokenizer_ggml_model, "none");
  return {};
}

Result<void> TokenizerWriter::arctic() {
  INGOT_TRY(const TokenList tokens, read_arctic(files_, config_));
  return write_spm(tokens);
}

Result<void> TokenizerWriter::deci() {
  constexpr std::uint64_t llama3_size = 128'256;
  INGOT_TRY(const auto size, config_.find_count("vocab_size"));
  if (size.value_or(llama3_size) == llama3_size) return gpt2();
  return is_llama_json(files_) ? llama_json() : spm_or_gpt2();
}

}  // namespace ingot::huggingface
