// SPDX-License-Identifier: MIT
// Writes the keys of a tokenizer, step by step.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "huggingface/folder/config.hpp"
#include "huggingface/folder/model_folder.hpp"
#include "huggingface/import/keys/key_plan.hpp"
#include "huggingface/import/tokenizer/ranked_tokens.hpp"
#include "huggingface/import/tokenizer/sentencepiece_model.hpp"
#include "huggingface/import/tokenizer/special_block.hpp"
#include "huggingface/import/tokenizer/token_list.hpp"
#include "huggingface/import/tokenizer/tokenizer_files.hpp"
#include "ingot/error.hpp"
#include "ingot/import_options.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::huggingface {

/// Writes the keys of one folder. A step is a method that the rules name.
class TokenizerWriter {
 public:
  TokenizerWriter(const ModelFolder& folder, const Config& config, const std::string& architecture,
                  const ImportOptions& options, KeyPlan& keys, std::vector<Error>& remarks)
      : folder_(folder),
        config_(config),
        architecture_(architecture),
        options_(options),
        keys_(keys),
        remarks_(remarks) {}

  [[nodiscard]] Result<void> run(const std::vector<std::string>& steps);

 private:
  /// A kind of token with an id that is known beforehand.
  using KnownId = std::pair<std::string_view, std::int64_t>;
  /// A kind of token, and the added token that it is where the files tell none.
  using Fallback = std::pair<std::string_view, std::string_view>;

  // tokenizer_keys.cpp
  Result<void> gpt2() { return bpe("gpt2"); }
  Result<void> bpe(std::string_view model);
  Result<void> spm();
  Result<void> spm_or_gpt2() { return has_sentencepiece() ? spm() : gpt2(); }
  Result<void> gpt2_or_spm() { return files_.tokenizer.root().exists() ? gpt2() : spm(); }
  /// Lets the steps that follow write a vocabulary whose size is a multiple of a number.
  template <std::uint64_t multiple>
  Result<void> pad_to() {
    return pad_vocabulary(multiple);
  }
  template <std::uint64_t multiple>
  Result<void> pad_as_stated_or_to() {
    INGOT_TRY(const auto stated, config_.find_count("pad_vocab_size_multiple"));
    return pad_vocabulary(stated.value_or(multiple));
  }
  Result<void> pad_vocabulary(std::uint64_t multiple);
  /// Lets the steps that follow take `vocab_size` where another size is there, too.
  Result<void> vocab_of_text();
  Result<void> no_space_prefix();
  Result<void> add_bos() { return set_switch(keys::tokenizer_ggml_add_bos_token, true); }
  Result<void> no_bos() { return set_switch(keys::tokenizer_ggml_add_bos_token, false); }
  Result<void> bos_eos_sep();
  Result<void> set_switch(std::string_view key, bool value);
  [[nodiscard]] bool has_sentencepiece() const { return folder_.has(file_names::sentencepiece); }
  [[nodiscard]] JsonView tokenizer_config() const { return files_.tokenizer_config.root(); }
  /// Model, pre-tokenizer, tokens, scores and kinds.
  Result<void> write_tokens(std::string_view model, const TokenList& tokens);
  Result<void> write_spm(const TokenList& tokens);
  Result<void> write_block(std::size_t token_count);
  Result<SpecialBlock> read_block(SpecialBlockOptions options);
  /// A block of other kinds after that of the usual ones.
  Result<void> write_second_block(std::vector<std::string> kinds, std::span<const KnownId> ids,
                                  bool has_template);
  /// `add_prefix_space`, if it is there and not null.
  Result<void> set_space_prefix();

  // tokenizer_families.cpp
  Result<void> llama();
  /// A vocabulary of SentencePiece without tokenizer.model, which would have the scores.
  Result<void> llama_json();
  Result<void> gemma3();
  /// Merges like GPT-2's over the tokens of Gemma, of which some open and close parts of a turn.
  Result<void> gemma4();
  Result<void> phi3();
  Result<void> bert();
  Result<void> set_type_count();
  Result<void> roberta();
  Result<void> xlm_roberta();
  Result<void> t5();
  Result<void> write_unigram(const UnigramTokens& unigram, bool has_type_count);
  Result<void> jamba();
  Result<void> jina2();
  Result<void> internlm2();
  Result<void> internlm3();
  Result<void> gpt2_with(const Config& config, std::span<const Fallback> fallbacks);
  Result<void> glm4();
  Result<void> glm();
  Result<void> solar();
  Result<void> chatglm();
  /// The end of a turn is the first of the ends that a generation may have.
  Result<void> hunyuan();
  Result<void> gemma_fim();
  /// A turn and a text both begin and end with the token that ends a turn of ChatML.
  Result<void> chat_end_alone();
  /// The template of ChatML, whatever the files have.
  Result<void> chatml();
  Result<void> xverse();

  // tokenizer_programs.cpp
  /// Model, pre-tokenizer, tokens and kinds.
  Result<void> write_ranked_tokens(const RankedFile& file, const RankedTokens& ranked);
  /// A file of ranks, with its merges before the special tokens.
  Result<void> ranked();
  [[nodiscard]] bool has_ranks_alone() const;
  Result<void> gpt2_or_ranked() { return has_ranks_alone() ? ranked() : gpt2(); }
  /// The end of a text is the token `[EOS]` where a file of ranks is the tokenizer.
  Result<void> ranked_end();
  Result<void> qwen1();
  Result<void> hunyuan_moe();
  /// tekken.json, or a tokenizer.model of Mistral's own form of folders.
  Result<void> mistral();
  /// The folder's template, or the name under which engines know one of the tokenizer's version.
  Result<void> write_mistral_template(const MistralTokens& read);
  Result<void> rwkv();
  Result<void> plamo();
  Result<void> template_last();
  /// The template of chat_template.jinja, also where tokenizer_config.json has another one.
  Result<void> template_of_file();
  /// The token that ends what an assistant says is no text, whatever the files say.
  Result<void> assistant_end();
  /// No tokens: the model does not read text.
  Result<void> none();
  Result<void> arctic();
  Result<void> deci();

  const ModelFolder& folder_;
  Config config_;  ///< What the steps so far have changed is changed here.
  const std::string& architecture_;
  const ImportOptions& options_;
  KeyPlan& keys_;
  std::vector<Error>& remarks_;
  TokenizerFiles files_;
};

}  // namespace ingot::huggingface
