// SPDX-License-Identifier: MIT
// A vocabulary of every family and for every pre-tokenizer, with tokens over all kinds of places at
// which a text could be cut.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "support/vocabulary_sketch.hpp"
#include "tokenizer/vocabulary/byte_alphabet.hpp"

namespace ingot::test {

inline VocabularySketch stream_bpe(std::string_view pre) {
  VocabularySketch sketch{.model = "gpt2", .pre = std::string(pre)};
  sketch.add("<s>", 0.0F, TokenKind::control).add("<end>", 0.0F, TokenKind::user_defined);
  for (int byte = 0; byte < 256; ++byte) {
    sketch.add(tokenizer::token_of_bytes(std::string(1, static_cast<char>(byte))));
  }
  sketch.add_bytes();  // for those that do not encode bytes
  const std::string space = "\xC4\xA0";
  const std::string newline = "\xC4\x8A";
  for (const std::string& left :
       {std::string("t"), space, newline, std::string("1"), space + space}) {
    for (const std::string& right :
         {std::string("h"), space, newline, std::string("2"), std::string("a")}) {
      sketch.add(left + right);
      sketch.merges.push_back(left + " " + right);
    }
  }
  sketch.ids = {{"bos", 0}, {"eos", 0}};
  sketch.flags = {{"add_bos_token", true}, {"add_eos_token", true}};
  return sketch;
}

inline VocabularySketch stream_scored(std::string_view family) {
  VocabularySketch sketch{.model = std::string(family)};
  sketch.add("<unk>", 0.0F, TokenKind::unknown).add("<s>", 0.0F, TokenKind::control);
  sketch.add("</s>", 0.0F, TokenKind::control).add("<end>", 0.0F, TokenKind::user_defined);
  sketch.add_bytes();
  float score = -1.0F;
  for (const char* text :
       {"a", "t", "th", "the", "\xE2\x96\x81", "\xE2\x96\x81t", "\xE2\x96\x81the", "1", "12",
        "\xE2\x96\x81\xE2\x96\x81", "\xC3\xA9", "a1", "\n", ".\n", "B", ".", "\xE4\xB8\xAD", "s"}) {
    sketch.add(text, score -= 0.5F);
  }
  sketch.ids = {{"unknown", 0}, {"bos", 1}, {"eos", 2}, {"seperator", 2}};
  return sketch;
}

inline std::vector<Tokenizer> all_tokenizers() {
  std::vector<Tokenizer> tokenizers;
  for (const std::string_view pre : known_pre_tokenizers())
    tokenizers.push_back(*stream_bpe(pre).make());
  for (const char* family : {"llama", "bert", "t5", "rwkv", "plamo2", "gemma4", "whitespace"}) {
    VocabularySketch sketch = stream_scored(family);
    if (family == std::string_view("gemma4") || family == std::string_view("whitespace")) {
      sketch.merges = {"t h", "th e"};
    }
    tokenizers.push_back(*sketch.make());
  }
  VocabularySketch stripping = stream_scored("llama");
  stripping.name = "phi-3";  // white space after special tokens is dropped
  tokenizers.push_back(*stripping.make());
  return tokenizers;
}

}  // namespace ingot::test
