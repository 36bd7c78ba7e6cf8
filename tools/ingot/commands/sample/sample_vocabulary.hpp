// SPDX-License-Identifier: MIT
// The vocabulary of a sample model: made up, but made as real ones are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "commands/sample/sample_shape.hpp"

namespace ingot::cli {

/// Token kinds as loaders know them.
enum class TokenKind : std::int32_t { normal = 1, unknown = 2, control = 3, byte = 6 };

struct SampleVocabulary {
  std::vector<std::string> tokens;
  std::vector<std::int32_t> kinds;
  std::vector<float> scores;        ///< llama: what the tokenizer merges first is higher
  std::vector<std::string> merges;  ///< qwen2: "left right", in the order of their tokens
  std::uint32_t begin_id = 0;
  std::uint32_t end_id = 0;
  std::uint32_t padding_id = 0;
};

/// The least number of tokens: all bytes and the special ones.
[[nodiscard]] std::uint32_t least_vocabulary(SampleArch arch) noexcept;

/// Exactly `size` tokens, all different. llama: a SentencePiece vocabulary with byte tokens;
/// qwen2: a byte-level one, where every token beyond the bytes is the result of one merge.
[[nodiscard]] SampleVocabulary make_vocabulary(SampleArch arch, std::uint32_t size);

}  // namespace ingot::cli
