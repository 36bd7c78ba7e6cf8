// SPDX-License-Identifier: MIT
// The frame around the families: special tokens, bos and eos.
#pragma once

#include <memory>
#include <string_view>

#include "tokenizer/families/family_encoder.hpp"
#include "tokenizer/vocabulary/special_finder.hpp"

namespace ingot::tokenizer {

/// The tokens before and after a text with special tokens; no_token: none.
struct Surroundings {
  TokenId first = no_token;
  TokenId last = no_token;
};

class Encoder {
 public:
  Encoder(std::shared_ptr<const VocabularyData> data, std::unique_ptr<const FamilyEncoder> family);

  /// Encodes a text into `work`.
  void encode(std::string_view text, const EncodeOptions& options, Work& work) const;

  /// The last place at which a text can be cut, whatever follows it: its ids are those of both
  /// parts. 0 if there is none. `text` begins at a cut.
  [[nodiscard]] std::size_t find_cut(std::string_view text, bool parse_special) const;

  [[nodiscard]] bool has_unknown_merges() const noexcept { return family_->has_unknown_merges(); }

 private:
  std::shared_ptr<const VocabularyData> data_;
  SpecialFinder finder_;
  std::unique_ptr<const FamilyEncoder> family_;
  Surroundings around_;
};

}  // namespace ingot::tokenizer
