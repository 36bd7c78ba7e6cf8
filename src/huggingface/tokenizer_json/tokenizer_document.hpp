// SPDX-License-Identifier: MIT
// The facts that tokenizer.json is made of, and its text.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ingot/model.hpp"
#include "ingot/tokenizer.hpp"

namespace ingot::huggingface {

struct DocumentToken {
  std::string_view text;
  float score = 0;
  TokenKind kind = TokenKind::normal;
};

/// The tokens that are put around a text.
struct TextFrame {
  std::optional<std::uint32_t> first;
  std::optional<std::uint32_t> last;
  bool separates_pairs = false;  ///< They stand around each of two texts, else around both.
};

/// Whatever the document is made of. All is borrowed.
struct TokenizerDocument {
  const Model& model;            ///< The merges, and the map of characters.
  const Vocabulary& vocabulary;  ///< The family, its flags, and tokens that strip.
  std::span<const DocumentToken> tokens;
  const std::unordered_map<std::string_view, std::uint32_t>& ids;  ///< `model.vocab`
  std::span<const std::uint32_t> added;                            ///< `added_tokens`
  TextFrame frame;
};

/// Whether a token of this kind is a special one among the added tokens.
[[nodiscard]] constexpr bool is_special(TokenKind kind) noexcept {
  return kind == TokenKind::control || kind == TokenKind::unknown;
}

/// Whether the form has a model for the family.
[[nodiscard]] bool has_document(TokenizerFamily family) noexcept;

/// The text of the document, of a family that it has a form for. Bytes that are not UTF-8 become
/// U+FFFD.
///
/// @param warnings  gets what the form does not express.
[[nodiscard]] std::string write_document(const TokenizerDocument& document,
                                         std::vector<std::string>& warnings);

/// Appends the member `model`, by far the longest.
void append_model(const TokenizerDocument& document, std::string& text,
                  std::vector<std::string>& warnings);

/// The members of tokenizer_config.json that every model has.
///
/// @param named  `bos_token`, `add_bos_token` and the like.
[[nodiscard]] nlohmann::ordered_json usual_configuration(const Model& model,
                                                         const Vocabulary& vocabulary,
                                                         std::string_view tokenizer_class,
                                                         const nlohmann::ordered_json& named);

}  // namespace ingot::huggingface
