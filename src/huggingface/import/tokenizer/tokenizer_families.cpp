// SPDX-License-Identifier: MIT
// The steps that one family of models needs each.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tokenizer/tokenizer_writer.hpp"
#include "ingot/metadata_keys.hpp"
#include "tokenizer/vocabulary/escapes.hpp"

namespace ingot::huggingface {

Result<void> TokenizerWriter::llama() {
  if (folder_.has(file_names::tekken) && !files_.tokenizer.root().exists()) return mistral();
  INGOT_TRY_VOID(set_space_prefix());
  if (has_sentencepiece()) {
    INGOT_TRY_VOID(spm());
  } else if (is_llama_json(files_)) {
    INGOT_TRY_VOID(llama_json());
  } else {
    INGOT_TRY_VOID(gpt2());
  }
  INGOT_TRY(const auto vocab_size, config_.find_count("vocab_size"));
  if (vocab_size == 32016u) {  // CodeLlama
    constexpr KnownId ids[] = {
        {"prefix", 32007}, {"suffix", 32008}, {"middle", 32009}, {"eot", 32010}};
    return write_second_block({"prefix", "suffix", "middle", "eot"}, ids, true);
  }
  if (vocab_size == 49152u) {  // small models of Granite
    keys_.from("the architecture");
    keys_.set_bool(keys::tokenizer_ggml_add_bos_token, false);
  }
  return {};
}

Result<void> TokenizerWriter::llama_json() {
  INGOT_TRY(LlamaTokens read, read_llama_json(files_));
  std::string remark;
  if (options_.as_reference) {
    std::ranges::fill(read.tokens.scores, -1000.0F);
    remark =
        "all scores are -1000, as the reference converter has them; an engine merges many "
        "texts otherwise than the original tokenizer";
  } else {
    remark =
        "there is no tokenizer.model, so that the scores are made of the ranks of the merges; "
        "--as-reference writes -1000 for all";
    if (read.inexact_pairs != 0) {
      remark += "; pairs of tokens that no score expresses: " + std::to_string(read.inexact_pairs);
    }
  }
  remarks_.push_back({Errc::engine_may_misread, Error::no_offset,
                      std::string(keys::tokenizer_ggml_scores), std::move(remark)});
  return write_spm(read.tokens);
}

Result<void> TokenizerWriter::gemma3() {
  if (!has_sentencepiece()) return gpt2();
  INGOT_TRY_VOID(spm());
  return no_space_prefix();
}

Result<void> TokenizerWriter::gemma4() {
  if (!is_llama_json(files_)) {
    return refuse(folder_.locate(file_names::tokenizer),
                  "a BPE with byte_fallback and a Sequence as decoder is needed");
  }
  INGOT_TRY(LlamaTokens read, read_llama_json(files_));
  constexpr std::array<std::string_view, 7> shown = {
      "<|channel>",       "<channel|>",       "<|tool_call>", "<tool_call|>",
      "<|tool_response>", "<tool_response|>", "<|\"|>"};
  for (std::size_t id = 0; id < read.tokens.size(); ++id) {
    read.tokens.scores[id] = -1000.0F;
    if (std::ranges::count(shown, read.tokens.texts[id]) != 0) {
      read.tokens.kinds[id] = static_cast<std::int32_t>(TokenKind::user_defined);
    }
  }
  INGOT_TRY_VOID(write_tokens("gemma4", read.tokens));
  keys_.remove(keys::tokenizer_ggml_pre);
  INGOT_TRY(const SpecialBlock block, read_block({.has_merges = true}));
  block.write(keys_);
  INGOT_TRY_VOID(no_space_prefix());
  return add_bos();
}

Result<void> TokenizerWriter::phi3() {
  if (tokenizer_config()["tokenizer_class"].text() == "GPT2Tokenizer") return gpt2();
  INGOT_TRY(const TokenList tokens, read_phi3(files_, config_));
  return write_spm(tokens);
}

Result<void> TokenizerWriter::bert() {
  INGOT_TRY(const TokenList tokens, read_word_pieces(files_, config_));
  INGOT_TRY_VOID(set_type_count());
  INGOT_TRY_VOID(write_tokens("bert", tokens));
  return write_block(tokens.size());
}

Result<void> TokenizerWriter::set_type_count() {
  INGOT_TRY(const auto type_count, config_.find_count("type_vocab_size"));
  if (type_count.value_or(1) > std::numeric_limits<std::uint32_t>::max()) {
    return refuse("type_vocab_size", "it does not fit 32 bits");
  }
  keys_.from(std::string(file_names::model_config));
  keys_.set(keys::tokenizer_ggml_token_type_count,
            static_cast<std::uint32_t>(type_count.value_or(1)));
  return {};
}

Result<void> TokenizerWriter::roberta() {
  if (!files_.tokenizer.root().exists()) return bert();
  INGOT_TRY_VOID(gpt2());
  return set_type_count();
}

Result<void> TokenizerWriter::xlm_roberta() {
  INGOT_TRY(const UnigramTokens unigram, read_xlm_roberta(files_, config_));
  return write_unigram(unigram, true);
}

Result<void> TokenizerWriter::t5() {
  INGOT_TRY(const UnigramTokens unigram, read_t5(files_, config_));
  return write_unigram(unigram, false);
}

Result<void> TokenizerWriter::write_unigram(const UnigramTokens& unigram, bool has_type_count) {
  INGOT_TRY_VOID(write_tokens("t5", unigram.tokens));
  keys_.set_bool(keys::tokenizer_ggml_add_space_prefix, unigram.has_space_prefix);
  if (has_type_count) INGOT_TRY_VOID(set_type_count());
  keys_.set_bool(keys::tokenizer_ggml_remove_extra_whitespaces, unigram.removes_extra_whitespaces);
  if (!unigram.charsmap.empty()) {
    keys_.set_array(keys::tokenizer_ggml_precompiled_charsmap, std::span(unigram.charsmap));
  }
  return write_block(unigram.tokens.size());
}

Result<void> TokenizerWriter::jamba() {
  if (has_sentencepiece()) return spm();
  INGOT_TRY_VOID(llama_json());
  return no_space_prefix();
}

Result<void> TokenizerWriter::jina2() {
  const std::string_view kind = tokenizer_config()["tokenizer_class"].text();
  if (kind == "BertTokenizer") {
    INGOT_TRY_VOID(bert());
  } else if (kind == "RobertaTokenizer") {
    const bool is_cut = files_.tokenizer.root()["pre_tokenizer"]["type"].text() == "Whitespace";
    INGOT_TRY_VOID(bpe(is_cut ? "whitespace" : "gpt2"));
  } else {
    return refuse(folder_.locate(file_names::tokenizer_config),
                  "tokenizer_class must be BertTokenizer or RobertaTokenizer");
  }
  keys_.from("the architecture");
  keys_.set(keys::tokenizer_ggml_token_type_count, std::uint32_t{2});
  return {};
}

Result<void> TokenizerWriter::internlm2() {
  INGOT_TRY(const Internlm2Tokens read, read_internlm2(files_, config_));
  INGOT_TRY_VOID(write_tokens("llama", read.tokens));
  keys_.set_bool(keys::tokenizer_ggml_add_space_prefix, read.has_space_prefix);
  INGOT_TRY(SpecialBlock block, read_block({.token_count = read.tokens.size()}));
  if (read.chat_end >= 0) block.replace("eos", read.chat_end);
  block.write(keys_);
  return {};
}

Result<void> TokenizerWriter::internlm3() {
  INGOT_TRY(const TokenList tokens, read_sentencepiece(files_, config_));
  INGOT_TRY_VOID(write_tokens("llama", tokens));
  INGOT_TRY_VOID(set_space_prefix());
  INGOT_TRY(SpecialBlock block, read_block({.token_count = tokens.size()}));
  INGOT_TRY(const auto added, files_.tokens_of_config());
  for (const AddedToken& token : added) {
    const bool is_chat_end = token.is_special && token.text == chat_end_text;
    if (is_chat_end && block.has("eos")) block.replace("eos", token.id);
  }
  block.write(keys_);
  return {};
}

Result<void> TokenizerWriter::gpt2_with(const Config& config, std::span<const Fallback> fallbacks) {
  INGOT_TRY(const TokenList tokens, read_vocabulary(files_, config));
  INGOT_TRY_VOID(write_tokens("gpt2", tokens));
  INGOT_TRY(SpecialBlock block, read_block({.has_merges = true}));
  INGOT_TRY(const auto added, files_.added_by_id());
  for (const auto& [kind, text] : fallbacks) {
    for (const auto& [id, token] : added) {
      if (token.text == text) block.offer(kind, id);
    }
  }
  block.write(keys_);
  return {};
}

Result<void> TokenizerWriter::glm4() {
  constexpr Fallback fallbacks[] = {{"eos", "<|endoftext|>"},
                                    {"eot", "<|user|>"},
                                    {"unk", "<|endoftext|>"},
                                    {"bos", "<|endoftext|>"}};
  return gpt2_with(config_, fallbacks);
}

Result<void> TokenizerWriter::glm() {
  constexpr Fallback fallbacks[] = {{"bos", "[gMASK]"},
                                    {"eot", "<|user|>"},
                                    {"unk", "<|endoftext|>"},
                                    {"eom", "<|observation|>"}};
  return gpt2_with(config_, fallbacks);
}

Result<void> TokenizerWriter::solar() {
  constexpr Fallback fallbacks[] = {{"eos", "<|endoftext|>"},
                                    {"eot", "<|endoftext|>"},
                                    {"unk", "<unk>"},
                                    {"bos", "<|startoftext|>"}};
  return gpt2_with(config_, fallbacks);
}

Result<void> TokenizerWriter::chatglm() {
  constexpr Fallback fallbacks[] = {
      {"eos", "<|endoftext|>"}, {"eot", "<|user|>"}, {"unk", "<|endoftext|>"}};
  const nlohmann::json* const padded = config_.find("padded_vocab_size");
  return gpt2_with(padded == nullptr ? config_ : config_.with({{"vocab_size", *padded}}, {}),
                   fallbacks);
}

Result<void> TokenizerWriter::hunyuan() {
  const JsonView config = files_.model_config.root();
  if (has_ranks_alone()) {
    INGOT_TRY_VOID(ranked());
    if (config["hidden_size"].integer() == 4096) {  // of the model with 7 billion weights
      keys_.from("the architecture");
      keys_.set(keys::tokenizer_ggml_bos_token_id, std::uint32_t{127'958});
    }
  } else {
    INGOT_TRY(const TokenList tokens, read_vocabulary(files_, config_));
    INGOT_TRY_VOID(write_tokens("gpt2", tokens));
    SpecialBlockOptions wanted{.has_merges = true};
    if (config["pad_token_id"].integer().value_or(0) < 0) std::erase(wanted.kinds, "pad");
    INGOT_TRY(const SpecialBlock block, read_block(std::move(wanted)));
    block.write(keys_);
  }
  INGOT_TRY(const JsonTree generation, read_tree(folder_, "generation_config.json"));
  const JsonView ends = generation.root()["eos_token_id"];
  const auto set_id = [&](std::string_view key, JsonView id) {
    if (!id.integer() || *id.integer() < 0 || *id.integer() > static_cast<std::int64_t>(max_tokens))
      return;
    keys_.set(key, static_cast<std::uint32_t>(*id.integer()));
  };
  set_id(keys::tokenizer_ggml_eos_token_id, config["eod_token_id"]);
  if (ends.size() > 1) set_id(keys::tokenizer_ggml_eot_token_id, ends.at(0));
  return {};
}

Result<void> TokenizerWriter::chat_end_alone() {
  INGOT_TRY(const auto added, files_.tokens_of_config());
  const auto end = std::ranges::find(added, chat_end_text, &AddedToken::text);
  if (end == added.end() || end->id < 0 || end->id > static_cast<std::int64_t>(max_tokens)) {
    return {};
  }
  keys_.from(std::string(file_names::tokenizer_config));
  keys_.set(keys::tokenizer_ggml_bos_token_id, static_cast<std::uint32_t>(end->id));
  keys_.set(keys::tokenizer_ggml_eos_token_id, static_cast<std::uint32_t>(end->id));
  return {};
}

Result<void> TokenizerWriter::chatml() {
  keys_.from("the architecture");
  keys_.set_string(keys::tokenizer_chat_template,
                   "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + "
                   "message['content'] + '<|im_end|>' + '\\n'}}{% endfor %}"
                   "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}");
  return {};
}

Result<void> TokenizerWriter::xverse() {
  if (!files_.tokenizer.root().exists()) {
    return refuse(folder_.locate(file_names::tokenizer), "the file is missing");
  }
  INGOT_TRY(TokenList tokens, read_vocabulary(files_, config_));
  INGOT_TRY(const auto added, files_.added_by_id());
  for (const auto& [id, token] : added) {
    tokens.set(static_cast<std::size_t>(id), token.text, 0,
               token.is_special ? TokenKind::control : TokenKind::user_defined);
  }
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    std::string& text = tokens.texts[id];
    const bool is_zero = text == std::string(1, '\0');
    if (!is_zero && tokenizer::byte_of_token(text) < 0) continue;
    tokens.kinds[id] = static_cast<std::int32_t>(TokenKind::byte);
    // What Python prints of the bytes of the token, between the signs of a byte.
    if (is_zero) text = "<b'\\x00'>";
  }
  return write_spm(tokens);
}

Result<void> TokenizerWriter::gemma_fim() {
  constexpr KnownId ids[] = {
      {"prefix", 67}, {"suffix", 69}, {"middle", 68}, {"fsep", 70}, {"eot", 107}};
  return write_second_block({"prefix", "suffix", "middle", "fsep", "eot"}, ids, false);
}

}  // namespace ingot::huggingface
