// SPDX-License-Identifier: MIT
// Models that hold a tokenizer and nothing else, from a few lines.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingot/tokenizer.hpp"
#include "support/gguf_builder.hpp"

namespace ingot::test {

struct TokenSketch {
  std::string text;
  float score = 0.0F;
  TokenKind kind = TokenKind::normal;
};

struct VocabularySketch {
  std::string model;
  std::string pre = {};
  std::vector<TokenSketch> tokens = {};
  std::vector<std::string> merges = {};
  std::vector<std::pair<std::string, std::uint32_t>> ids = {};  ///< "bos" for bos_token_id
  std::vector<std::pair<std::string, bool>> flags = {};         ///< "add_bos_token"
  std::string charsmap = {};
  std::string name = "sketch";  ///< general.name
  std::string architecture = "llama";
  std::string chat_template = {};

  VocabularySketch& add(std::string_view text, float score = 0.0F,
                        TokenKind kind = TokenKind::normal) {
    tokens.push_back({std::string(text), score, kind});
    return *this;
  }
  /// "<0x00>" to "<0xFF>".
  VocabularySketch& add_bytes() {
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (std::size_t byte = 0; byte < 256; ++byte) {
      add(std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">", 0.0F, TokenKind::byte);
    }
    return *this;
  }

  [[nodiscard]] Bytes bytes() const {
    GgufBuilder file;
    file.pair("general.architecture", std::string_view(architecture));
    file.pair("general.name", std::string_view(name));
    file.pair("tokenizer.ggml.model", std::string_view(model));
    if (!pre.empty()) file.pair("tokenizer.ggml.pre", std::string_view(pre));
    file.array_key("tokenizer.ggml.tokens", ValueType::string, tokens.size());
    for (const TokenSketch& token : tokens) file.text(token.text);
    file.array_key("tokenizer.ggml.scores", ValueType::float32, tokens.size());
    for (const TokenSketch& token : tokens) file.number(token.score);
    file.array_key("tokenizer.ggml.token_type", ValueType::int32, tokens.size());
    for (const TokenSketch& token : tokens) file.number(static_cast<std::int32_t>(token.kind));
    if (!merges.empty() || model == "gpt2") {
      file.array_key("tokenizer.ggml.merges", ValueType::string, merges.size());
      for (const std::string& merge : merges) file.text(merge);
    }
    for (const auto& [key, id] : ids) file.pair("tokenizer.ggml." + key + "_token_id", id);
    for (const auto& [key, flag] : flags) file.pair("tokenizer.ggml." + key, flag);
    if (!chat_template.empty()) {
      file.pair("tokenizer.chat_template", std::string_view(chat_template));
    }
    if (!charsmap.empty()) {
      file.array_key("tokenizer.ggml.precompiled_charsmap", ValueType::uint8, charsmap.size());
      file.raw(charsmap);
    }
    return file.bytes();
  }

  [[nodiscard]] Result<Tokenizer> make(const TokenizerOptions& options = {}) const {
    const Bytes file = bytes();
    INGOT_TRY(const Model model_of_bytes, Model::open_memory(file));
    return Tokenizer::make(model_of_bytes, options);
  }
};

/// A vocabulary of byte-level BPE with all printable ASCII characters, space and newline.
inline VocabularySketch ascii_bpe(std::string_view pre) {
  VocabularySketch sketch{.model = "gpt2", .pre = std::string(pre)};
  sketch.add("<s>", 0.0F, TokenKind::control);
  sketch.add("\xC4\xA0").add("\xC4\x8A");  // space and newline in the alphabet of bytes
  for (char c = '!'; c <= '~'; ++c) sketch.add(std::string(1, c));
  sketch.ids = {{"bos", 0}, {"eos", 0}};
  return sketch;
}

/// The texts of tokens, joined by "|".
inline std::string pieces(const Tokenizer& tokenizer, std::string_view text,
                          const EncodeOptions& options = {}) {
  const auto ids = tokenizer.encode(text, options);
  if (!ids) return ids.error().message();
  std::string joined;
  for (const TokenId id : *ids) {
    if (!joined.empty()) joined += '|';
    joined += id == no_token ? "none" : tokenizer.piece(id);
  }
  return joined;
}

}  // namespace ingot::test
