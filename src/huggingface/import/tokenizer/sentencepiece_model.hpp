// SPDX-License-Identifier: MIT
// tokenizer.model: the vocabulary of SentencePiece, a protocol buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"

namespace ingot::huggingface {

/// The most tokens of a vocabulary, in every form.
inline constexpr std::size_t max_tokens = std::size_t{1} << 20;

/// One token. Source: sentencepiece_model.proto of the project SentencePiece.
struct SentencePiece {
  enum Type : std::uint8_t {
    normal = 1,
    unknown = 2,
    control = 3,
    user_defined = 4,
    unused = 5,
    byte = 6
  };

  std::string_view text;  ///< Borrowed from the file.
  float score = 0;
  Type type = normal;
};

struct SentencePieceModel {
  enum Algorithm : std::uint8_t { unigram = 1, bpe = 2, word = 3, character = 4 };

  std::vector<SentencePiece> pieces;
  Algorithm algorithm = unigram;
  std::string_view charsmap;  ///< Compiled rules of normalization; borrowed from the file.
  bool adds_dummy_prefix = true;
  bool removes_extra_whitespaces = true;
};

/// Reads the bytes of a tokenizer.model, which the result borrows. `file` is its name in messages.
/// Errc::import_refused with the byte offset; Errc::limit_exceeded beyond max_tokens. Linear.
[[nodiscard]] INGOT_EXPORT Result<SentencePieceModel> parse_sentencepiece(std::string_view bytes,
                                                                          const std::string& file);

}  // namespace ingot::huggingface
