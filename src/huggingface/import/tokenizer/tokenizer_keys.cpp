// SPDX-License-Identifier: MIT
#include "huggingface/import/tokenizer/tokenizer_keys.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tokenizer/pre_check.hpp"
#include "huggingface/import/tokenizer/sentencepiece_model.hpp"
#include "huggingface/import/tokenizer/special_block.hpp"
#include "huggingface/import/tokenizer/token_list.hpp"
#include "huggingface/import/tokenizer/tokenizer_files.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::huggingface {
namespace {

/// A kind of token with an id that is known beforehand.
using KnownId = std::pair<std::string_view, std::int64_t>;

/// Writes the keys of one folder, step by step.
class Writer {
 public:
  Writer(const ModelFolder& folder, const Config& config, const ImportOptions& options,
         KeyPlan& keys, std::vector<Error>& remarks)
      : folder_(folder), config_(config), options_(options), keys_(keys), remarks_(remarks) {}

  Result<void> run(const std::vector<std::string>& steps) {
    struct NamedStep {
      std::string_view name;
      Result<void> (Writer::*step)();
    };
    static constexpr std::array known_steps = {
        NamedStep{"gpt2", &Writer::gpt2},
        NamedStep{"spm", &Writer::spm},
        NamedStep{"spm_or_gpt2", &Writer::spm_or_gpt2},
        NamedStep{"gpt2_or_spm", &Writer::gpt2_or_spm},
        NamedStep{"pad_to_8", &Writer::pad_to<8>},
        NamedStep{"pad_as_stated_or_to_8", &Writer::pad_as_stated_or_to<8>},
        NamedStep{"pad_as_stated_or_to_16", &Writer::pad_as_stated_or_to<16>},
        NamedStep{"vocab_of_text", &Writer::vocab_of_text},
        NamedStep{"llama", &Writer::llama},
        NamedStep{"gemma3", &Writer::gemma3},
        NamedStep{"gemma4", &Writer::gemma4},
        NamedStep{"phi3", &Writer::phi3},
        NamedStep{"bert", &Writer::bert},
        NamedStep{"roberta", &Writer::roberta},
        NamedStep{"jina2", &Writer::jina2},
        NamedStep{"jamba", &Writer::jamba},
        NamedStep{"internlm2", &Writer::internlm2},
        NamedStep{"internlm3", &Writer::internlm3},
        NamedStep{"glm4", &Writer::glm4},
        NamedStep{"glm", &Writer::glm},
        NamedStep{"solar", &Writer::solar},
        NamedStep{"chatglm", &Writer::chatglm},
        NamedStep{"hunyuan", &Writer::hunyuan},
        NamedStep{"gemma_fim", &Writer::gemma_fim},
        NamedStep{"no_space_prefix", &Writer::no_space_prefix},
        NamedStep{"space_prefix", &Writer::set_space_prefix},
        NamedStep{"add_bos", &Writer::add_bos},
        NamedStep{"no_bos", &Writer::no_bos},
        NamedStep{"bos_eos_sep", &Writer::bos_eos_sep},
    };
    INGOT_TRY(files_, TokenizerFiles::read(folder_));
    for (const std::string& name : steps) {
      const auto* const found = std::ranges::find(known_steps, name, &NamedStep::name);
      if (found == known_steps.end()) {
        return fail(Errc::internal, name, "no step of the tokenizer has this name");
      }
      INGOT_TRY_VOID((this->*found->step)());
    }
    return {};
  }

 private:
  Result<void> gpt2() { return bpe("gpt2"); }

  Result<void> bpe(std::string_view model) {
    INGOT_TRY(const TokenList tokens, read_vocabulary(files_, config_));
    INGOT_TRY_VOID(write_tokens(model, tokens));
    INGOT_TRY(const SpecialBlock block, read_block({.has_merges = true}));
    block.write(keys_);
    return {};
  }

  Result<void> spm() {
    INGOT_TRY(const TokenList tokens, read_sentencepiece(files_, config_));
    return write_spm(tokens);
  }

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

  Result<void> pad_vocabulary(std::uint64_t multiple) {
    INGOT_TRY(const auto size, config_.find_count("vocab_size"));
    if (!size || multiple < 2 || multiple > max_tokens || *size > max_tokens) return {};
    config_ = config_.with({{"vocab_size", (*size + multiple - 1) / multiple * multiple}}, {});
    return {};
  }

  /// Lets the steps that follow take `vocab_size` where another size is there, too.
  Result<void> vocab_of_text() {
    config_ = config_.without("vocab_size_per_layer_input");
    return {};
  }

  Result<void> llama() {
    if (folder_.has("tekken.json") && !files_.tokenizer.root().exists()) {
      return refuse(folder_.locate("tekken.json"),
                    "Mistral's own form of a tokenizer is not read; tokenizer.json is needed");
    }
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

  /// A vocabulary of SentencePiece without tokenizer.model, which would have the scores.
  Result<void> llama_json() {
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
        remark +=
            "; pairs of tokens that no score expresses: " + std::to_string(read.inexact_pairs);
      }
    }
    remarks_.push_back({Errc::engine_may_misread, Error::no_offset,
                        std::string(keys::tokenizer_ggml_scores), std::move(remark)});
    return write_spm(read.tokens);
  }

  Result<void> gemma3() {
    if (!has_sentencepiece()) return gpt2();
    INGOT_TRY_VOID(spm());
    return no_space_prefix();
  }

  /// Merges like GPT-2's over the tokens of Gemma, of which some open and close parts of a turn.
  Result<void> gemma4() {
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

  Result<void> phi3() {
    if (tokenizer_config()["tokenizer_class"].text() == "GPT2Tokenizer") return gpt2();
    INGOT_TRY(const TokenList tokens, read_phi3(files_, config_));
    return write_spm(tokens);
  }

  Result<void> bert() {
    INGOT_TRY(const TokenList tokens, read_word_pieces(files_, config_));
    INGOT_TRY_VOID(set_type_count());
    INGOT_TRY_VOID(write_tokens("bert", tokens));
    return write_block(tokens.size());
  }

  Result<void> set_type_count() {
    INGOT_TRY(const auto type_count, config_.find_count("type_vocab_size"));
    if (type_count.value_or(1) > std::numeric_limits<std::uint32_t>::max()) {
      return refuse("type_vocab_size", "it does not fit 32 bits");
    }
    keys_.from(std::string(file_names::model_config));
    keys_.set(keys::tokenizer_ggml_token_type_count,
              static_cast<std::uint32_t>(type_count.value_or(1)));
    return {};
  }

  Result<void> roberta() {
    if (!files_.tokenizer.root().exists()) return bert();
    INGOT_TRY_VOID(gpt2());
    return set_type_count();
  }

  Result<void> jamba() {
    if (has_sentencepiece()) return spm();
    INGOT_TRY_VOID(llama_json());
    return no_space_prefix();
  }

  Result<void> jina2() {
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

  Result<void> internlm2() {
    INGOT_TRY(const Internlm2Tokens read, read_internlm2(files_, config_));
    INGOT_TRY_VOID(write_tokens("llama", read.tokens));
    keys_.set_bool(keys::tokenizer_ggml_add_space_prefix, read.has_space_prefix);
    INGOT_TRY(SpecialBlock block, read_block({.token_count = read.tokens.size()}));
    if (read.chat_end >= 0) block.replace("eos", read.chat_end);
    block.write(keys_);
    return {};
  }

  Result<void> internlm3() {
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

  /// A kind of token, and the added token that it is where the files tell none.
  using Fallback = std::pair<std::string_view, std::string_view>;

  Result<void> gpt2_with(const Config& config, std::span<const Fallback> fallbacks) {
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

  Result<void> glm4() {
    constexpr Fallback fallbacks[] = {{"eos", "<|endoftext|>"},
                                      {"eot", "<|user|>"},
                                      {"unk", "<|endoftext|>"},
                                      {"bos", "<|endoftext|>"}};
    return gpt2_with(config_, fallbacks);
  }

  Result<void> glm() {
    constexpr Fallback fallbacks[] = {{"bos", "[gMASK]"},
                                      {"eot", "<|user|>"},
                                      {"unk", "<|endoftext|>"},
                                      {"eom", "<|observation|>"}};
    return gpt2_with(config_, fallbacks);
  }

  Result<void> solar() {
    constexpr Fallback fallbacks[] = {{"eos", "<|endoftext|>"},
                                      {"eot", "<|endoftext|>"},
                                      {"unk", "<unk>"},
                                      {"bos", "<|startoftext|>"}};
    return gpt2_with(config_, fallbacks);
  }

  Result<void> chatglm() {
    constexpr Fallback fallbacks[] = {
        {"eos", "<|endoftext|>"}, {"eot", "<|user|>"}, {"unk", "<|endoftext|>"}};
    const nlohmann::json* const padded = config_.find("padded_vocab_size");
    return gpt2_with(padded == nullptr ? config_ : config_.with({{"vocab_size", *padded}}, {}),
                     fallbacks);
  }

  /// The end of a turn is the first of the ends that a generation may have.
  Result<void> hunyuan() {
    INGOT_TRY(const TokenList tokens, read_vocabulary(files_, config_));
    INGOT_TRY_VOID(write_tokens("gpt2", tokens));
    SpecialBlockOptions wanted{.has_merges = true};
    const JsonView config = files_.model_config.root();
    if (config["pad_token_id"].integer().value_or(0) < 0) std::erase(wanted.kinds, "pad");
    INGOT_TRY(const SpecialBlock block, read_block(std::move(wanted)));
    INGOT_TRY(const JsonTree generation, read_tree(folder_, "generation_config.json"));
    const JsonView ends = generation.root()["eos_token_id"];
    block.write(keys_);
    const auto set_id = [&](std::string_view key, JsonView id) {
      if (!id.integer() || *id.integer() < 0 ||
          *id.integer() > static_cast<std::int64_t>(max_tokens))
        return;
      keys_.set(key, static_cast<std::uint32_t>(*id.integer()));
    };
    set_id(keys::tokenizer_ggml_eos_token_id, config["eod_token_id"]);
    if (ends.size() > 1) set_id(keys::tokenizer_ggml_eot_token_id, ends.at(0));
    return {};
  }

  Result<void> gemma_fim() {
    constexpr KnownId ids[] = {
        {"prefix", 67}, {"suffix", 69}, {"middle", 68}, {"fsep", 70}, {"eot", 107}};
    return write_second_block({"prefix", "suffix", "middle", "fsep", "eot"}, ids, false);
  }

  Result<void> no_space_prefix() {
    return set_switch(keys::tokenizer_ggml_add_space_prefix, false);
  }

  Result<void> add_bos() { return set_switch(keys::tokenizer_ggml_add_bos_token, true); }
  Result<void> no_bos() { return set_switch(keys::tokenizer_ggml_add_bos_token, false); }
  Result<void> bos_eos_sep() {
    INGOT_TRY_VOID(add_bos());
    INGOT_TRY_VOID(set_switch(keys::tokenizer_ggml_add_eos_token, true));
    return set_switch(keys::tokenizer_ggml_add_sep_token, true);
  }

  Result<void> set_switch(std::string_view key, bool value) {
    keys_.from("the architecture");
    keys_.set_bool(key, value);
    return {};
  }

  [[nodiscard]] bool has_sentencepiece() const { return folder_.has(file_names::sentencepiece); }
  [[nodiscard]] JsonView tokenizer_config() const { return files_.tokenizer_config.root(); }

  /// Model, pre-tokenizer, tokens, scores and kinds.
  Result<void> write_tokens(std::string_view model, const TokenList& tokens) {
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
    if (model == "llama" || model == "gemma4") return {};
    INGOT_TRY(const std::string pre, choose_pre(files_, config_, options_, keys_, remarks_));
    keys_.from(options_.pre ? "--pre" : "the check of the pre-tokenizer");
    keys_.set_string(keys::tokenizer_ggml_pre, pre);
    return {};
  }

  Result<void> write_spm(const TokenList& tokens) {
    INGOT_TRY_VOID(write_tokens("llama", tokens));
    return write_block(tokens.size());
  }

  Result<void> write_block(std::size_t token_count) {
    INGOT_TRY(const SpecialBlock block, read_block({.token_count = token_count}));
    block.write(keys_);
    return {};
  }

  Result<SpecialBlock> read_block(SpecialBlockOptions options) {
    return SpecialBlock::read(files_, std::move(options), remarks_);
  }

  /// A block of other kinds after that of the usual ones.
  Result<void> write_second_block(std::vector<std::string> kinds, std::span<const KnownId> ids,
                                  bool has_template) {
    INGOT_TRY(SpecialBlock block, read_block({.kinds = std::move(kinds)}));
    for (const auto& [kind, id] : ids) block.offer(kind, id);
    if (!has_template) block.drop_templates();
    block.write(keys_);
    return {};
  }

  /// `add_prefix_space`, if it is there and not null.
  Result<void> set_space_prefix() {
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

  const ModelFolder& folder_;
  Config config_;  ///< What the steps so far have changed is changed here.
  const ImportOptions& options_;
  KeyPlan& keys_;
  std::vector<Error>& remarks_;
  TokenizerFiles files_;
};

}  // namespace

Result<void> add_tokenizer_keys(const ModelFolder& folder, const Config& config,
                                const std::vector<std::string>& steps, const ImportOptions& options,
                                KeyPlan& keys, std::vector<Error>& remarks) {
  return Writer(folder, config, options, keys, remarks).run(steps);
}

}  // namespace ingot::huggingface
