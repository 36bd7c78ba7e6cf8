// SPDX-License-Identifier: MIT
// Token ids as `ingot tokenize` prints them, part by part.
#pragma once

#include <cstdint>
#include <ingot/token_stream.hpp>
#include <ingot/tokenizer.hpp>
#include <vector>

#include "cli/console.hpp"
#include "cli/json_stream.hpp"

namespace ingot::cli {

enum class TokenForm : std::uint8_t { ids, count, pieces, offsets };

class TokenOutput {
 public:
  TokenOutput(Console& console, const Tokenizer& tokenizer, TokenForm form);

  /// Prints the tokens of a part; in JSON their texts follow at the end, so ids are kept.
  void add(const TokenizedPart& part);
  /// Prints the remaining tokens.
  void finish();

 private:
  void add_ids(const TokenizedPart& part);
  void add_pieces(const TokenizedPart& part);
  void add_offsets(const TokenizedPart& part);
  void finish_json();

  Console& console_;
  Output& out_;
  const Tokenizer& tokenizer_;
  TokenForm form_;
  bool has_color_;
  std::uint64_t count_ = 0;
  std::vector<TokenId> ids_;  // for JSON
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint64_t> ends_;
};

}  // namespace ingot::cli
