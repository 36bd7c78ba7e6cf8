// SPDX-License-Identifier: MIT
// Vocabularies that programs beside the weights read: files of ranks, of lists and of literals.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "huggingface/folder/config.hpp"
#include "huggingface/import/tokenizer/token_list.hpp"
#include "huggingface/import/tokenizer/tokenizer_files.hpp"
#include "ingot/error.hpp"

namespace ingot::huggingface {

/// A file of tokens in base64 with their ranks, as tiktoken reads it.
struct RankedFile {
  std::string_view name;  ///< Of the file.
  std::string_view pre;   ///< The pre-tokenizer of the models that have it.
};

/// The file of ranks of a folder; nothing if it has none.
[[nodiscard]] std::optional<RankedFile> find_ranked_file(const ModelFolder& folder);

/// Tokens, and the merges that give them their ranks, which the file does not list.
struct RankedTokens {
  TokenList tokens;  ///< Without scores.
  std::vector<std::string> merges;
  std::vector<AddedToken> specials;
};
[[nodiscard]] Result<RankedTokens> read_ranked_tokens(const TokenizerFiles& files,
                                                      const Config& config, std::string_view file);

/// The tokens of a folder of Mistral: of tekken.json, whose ranks make the merges, or of
/// tokenizer.model.
struct MistralTokens {
  std::string file = {};
  std::string version = {};  ///< Of the prompts that go with it: "v3".
  bool is_tekken = false;
  TokenList tokens = {};
  std::vector<std::string> merges = {};
  std::uint32_t bos = 0, eos = 0, unknown = 0, padding = 0;
};
[[nodiscard]] Result<MistralTokens> read_mistral_tokens(const TokenizerFiles& files);

/// The lines of the tokens of RWKV World: number, literal of Python, length.
inline constexpr std::string_view rwkv_file = "rwkv_vocab_v20230424.txt";
/// The tokens of RWKV World, as the literals of their bytes that Python prints; without scores.
[[nodiscard]] Result<TokenList> read_rwkv_tokens(const TokenizerFiles& files, const Config& config);

/// The lists of the tokens of PLaMo 2, one in each line: text, score, kind.
inline constexpr std::string_view plamo_file = "tokenizer.jsonl";
[[nodiscard]] Result<TokenList> read_plamo_tokens(const TokenizerFiles& files,
                                                  const Config& config);

}  // namespace ingot::huggingface
