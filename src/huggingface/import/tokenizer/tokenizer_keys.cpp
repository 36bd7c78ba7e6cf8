// SPDX-License-Identifier: MIT
#include "huggingface/import/tokenizer/tokenizer_keys.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tokenizer/pre_check.hpp"
#include "huggingface/import/tokenizer/tokenizer_writer.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::huggingface {

Result<void> TokenizerWriter::run(const std::vector<std::string>& steps) {
  struct NamedStep {
    std::string_view name;
    Result<void> (TokenizerWriter::*step)();
  };
  static constexpr std::array known_steps = {
      NamedStep{"gpt2", &TokenizerWriter::gpt2},
      NamedStep{"spm", &TokenizerWriter::spm},
      NamedStep{"spm_or_gpt2", &TokenizerWriter::spm_or_gpt2},
      NamedStep{"gpt2_or_spm", &TokenizerWriter::gpt2_or_spm},
      NamedStep{"pad_to_8", &TokenizerWriter::pad_to<8>},
      NamedStep{"pad_as_stated_or_to_8", &TokenizerWriter::pad_as_stated_or_to<8>},
      NamedStep{"pad_as_stated_or_to_16", &TokenizerWriter::pad_as_stated_or_to<16>},
      NamedStep{"vocab_of_text", &TokenizerWriter::vocab_of_text},
      NamedStep{"llama", &TokenizerWriter::llama},
      NamedStep{"mistral", &TokenizerWriter::mistral},
      NamedStep{"gemma3", &TokenizerWriter::gemma3},
      NamedStep{"gemma4", &TokenizerWriter::gemma4},
      NamedStep{"phi3", &TokenizerWriter::phi3},
      NamedStep{"bert", &TokenizerWriter::bert},
      NamedStep{"roberta", &TokenizerWriter::roberta},
      NamedStep{"xlm_roberta", &TokenizerWriter::xlm_roberta},
      NamedStep{"t5", &TokenizerWriter::t5},
      NamedStep{"jina2", &TokenizerWriter::jina2},
      NamedStep{"jamba", &TokenizerWriter::jamba},
      NamedStep{"internlm2", &TokenizerWriter::internlm2},
      NamedStep{"internlm3", &TokenizerWriter::internlm3},
      NamedStep{"glm4", &TokenizerWriter::glm4},
      NamedStep{"glm", &TokenizerWriter::glm},
      NamedStep{"solar", &TokenizerWriter::solar},
      NamedStep{"chatglm", &TokenizerWriter::chatglm},
      NamedStep{"hunyuan", &TokenizerWriter::hunyuan},
      NamedStep{"gemma_fim", &TokenizerWriter::gemma_fim},
      NamedStep{"chat_end_alone", &TokenizerWriter::chat_end_alone},
      NamedStep{"chatml", &TokenizerWriter::chatml},
      NamedStep{"xverse", &TokenizerWriter::xverse},
      NamedStep{"gpt2_or_ranked", &TokenizerWriter::gpt2_or_ranked},
      NamedStep{"ranked_end", &TokenizerWriter::ranked_end},
      NamedStep{"qwen1", &TokenizerWriter::qwen1},
      NamedStep{"hunyuan_moe", &TokenizerWriter::hunyuan_moe},
      NamedStep{"rwkv", &TokenizerWriter::rwkv},
      NamedStep{"plamo", &TokenizerWriter::plamo},
      NamedStep{"template_last", &TokenizerWriter::template_last},
      NamedStep{"template_of_file", &TokenizerWriter::template_of_file},
      NamedStep{"assistant_end", &TokenizerWriter::assistant_end},
      NamedStep{"none", &TokenizerWriter::none},
      NamedStep{"arctic", &TokenizerWriter::arctic},
      NamedStep{"deci", &TokenizerWriter::deci},
      NamedStep{"no_space_prefix", &TokenizerWriter::no_space_prefix},
      NamedStep{"space_prefix", &TokenizerWriter::set_space_prefix},
      NamedStep{"add_bos", &TokenizerWriter::add_bos},
      NamedStep{"no_bos", &TokenizerWriter::no_bos},
      NamedStep{"bos_eos_sep", &TokenizerWriter::bos_eos_sep},
  };
  INGOT_TRY(files_, TokenizerFiles::read(folder_));
  for (const std::string& name : steps) {
    const auto found = std::ranges::find(known_steps, name, &NamedStep::name);
    if (found == known_steps.end()) {
      return fail(Errc::internal, name, "no step of the tokenizer has this name");
    }
    INGOT_TRY_VOID((this->*found->step)());
  }
  return {};
}

Result<void> TokenizerWriter::bpe(std::string_view model) {
  INGOT_TRY(const TokenList tokens, read_vocabulary(files_, config_));
  INGOT_TRY_VOID(write_tokens(model, tokens));
  INGOT_TRY(const SpecialBlock block, read_block({.has_merges = true}));
  block.write(keys_);
  return {};
}

Result<void> TokenizerWriter::spm() {
  INGOT_TRY(const TokenList tokens, read_sentencepiece(files_, config_));
  return write_spm(tokens);
}

Result<void> TokenizerWriter::pad_vocabulary(std::uint64_t multiple) {
  INGOT_TRY(const auto size, config_.find_count("vocab_size"));
  if (!size || multiple < 2 || multiple > max_tokens || *size > max_tokens) return {};
  config_ = config_.with({{"vocab_size", (*size + multiple - 1) / multiple * multiple}}, {});
  return {};
}

Result<void> TokenizerWriter::vocab_of_text() {
  config_ = config_.without("vocab_size_per_layer_input");
  return {};
}

Result<void> TokenizerWriter::no_space_prefix() {
  return set_switch(keys::tokenizer_ggml_add_space_prefix, false);
}

Result<void> TokenizerWriter::bos_eos_sep() {
  INGOT_TRY_VOID(add_bos());
  INGOT_TRY_VOID(set_switch(keys::tokenizer_ggml_add_eos_token, true));
  return set_switch(keys::tokenizer_ggml_add_sep_token, true);
}

Result<void> TokenizerWriter::set_switch(std::string_view key, bool value) {
  keys_.from("the architecture");
  keys_.set_bool(key, value);
  return {};
}

Result<void> TokenizerWriter::write_tokens(std::string_view model, const TokenList& tokens) {
  keys_.from("the architecture");
  keys_.set_string(keys::tokenizer_ggml_model, model);
  // It has its place before the tokens, and is decided by them.
  keys_.set_string(keys::tokenizer_ggml_pre, "default");
  keys_.from(std::string(model == "llama" && has_sentencepiece() ? file_names::sentencepiece
                                                                 : file_names::tokenizer));
  keys_.set_array(keys::tokenizer_ggml_tokens, std::span<const std::string>(tokens.texts));
  if (!tokens.scores.empty()) {
    keys_.set_array(keys::tokenizer_ggml_scores, std::span<const float>(tokens.scores));
  }
  keys_.set_array(keys::tokenizer_ggml_token_type, std::span<const std::int32_t>(tokens.kinds));
  if (model == "llama" || model == "gemma4" || model == "t5") return {};
  INGOT_TRY(const std::string pre, choose_pre(files_, config_, options_, keys_, remarks_));
  keys_.from(options_.pre ? "--pre" : "the check of the pre-tokenizer");
  keys_.set_string(keys::tokenizer_ggml_pre, pre);
  return {};
}

Result<void> TokenizerWriter::write_spm(const TokenList& tokens) {
  INGOT_TRY_VOID(write_tokens("llama", tokens));
  return write_block(tokens.size());
}

Result<void> TokenizerWriter::write_block(std::size_t token_count) {
  INGOT_TRY(const SpecialBlock block, read_block({.token_count = token_count}));
  block.write(keys_);
  return {};
}

Result<SpecialBlock> TokenizerWriter::read_block(SpecialBlockOptions options) {
  options.as_reference = options_.as_reference;
  return SpecialBlock::read(files_, std::move(options), remarks_);
}

Result<void> TokenizerWriter::write_second_block(std::vector<std::string> kinds,
                                                 std::span<const KnownId> ids, bool has_template) {
  INGOT_TRY(SpecialBlock block, read_block({.kinds = std::move(kinds)}));
  for (const auto& [kind, id] : ids) block.offer(kind, id);
  if (!has_template) block.drop_templates();
  block.write(keys_);
  return {};
}

Result<void> TokenizerWriter::set_space_prefix() {
  const JsonView wanted = tokenizer_config()["add_prefix_space"];
  if (!wanted.exists() || wanted.is_null()) return {};
  if (!wanted.boolean()) {
    return refuse(folder_.locate(file_names::tokenizer_config),
                  "add_prefix_space must be true or false");
  }
  keys_.from(std::string(file_names::tokenizer_config));
  keys_.set_bool(keys::tokenizer_ggml_add_space_prefix, *wanted.boolean());
  return {};
}

Result<void> add_tokenizer_keys(const ModelFolder& folder, const Config& config,
                                const std::string& architecture,
                                const std::vector<std::string>& steps, const ImportOptions& options,
                                KeyPlan& keys, std::vector<Error>& remarks) {
  return TokenizerWriter(folder, config, architecture, options, keys, remarks).run(steps);
}

}  // namespace ingot::huggingface
