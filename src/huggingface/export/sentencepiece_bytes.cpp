// SPDX-License-Identifier: MIT
// tokenizer.model from the tokens of a model. Source of the numbers of fields:
// sentencepiece_model.proto of the project SentencePiece.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "huggingface/export/tokenizer_files_text.hpp"
#include "huggingface/import/tokenizer/sentencepiece_model.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::huggingface {
namespace {

/// Fields of one message, in the order of the calls.
class ProtobufWriter {
 public:
  void add_varint(std::uint32_t field, std::uint64_t value) {
    put_varint(std::uint64_t{field} << 3);
    put_varint(value);
  }
  void add_bytes(std::uint32_t field, std::string_view bytes) {
    put_varint(std::uint64_t{field} << 3 | 2);
    put_varint(bytes.size());
    bytes_ += bytes;
  }
  void add_float(std::uint32_t field, float value) {
    put_varint(std::uint64_t{field} << 3 | 5);
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (unsigned shift = 0; shift < 32; shift += 8) put_byte(bits >> shift);
  }

  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  void put_byte(std::uint64_t byte) { bytes_ += static_cast<char>(byte & 0xFF); }
  void put_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) put_byte((value & 0x7F) | 0x80);
    put_byte(value);
  }

  std::string bytes_;
};

enum ModelField : std::uint32_t { piece_field = 1, trainer_field = 2, normalizer_field = 3 };
enum PieceField : std::uint32_t { text_field = 1, score_field = 2, type_field = 3 };
enum TrainerField : std::uint32_t {
  algorithm_field = 3,
  vocabulary_size_field = 4,
  byte_fallback_field = 35,
  unknown_id_field = 40,
  begin_id_field = 41,
  end_id_field = 42,
  padding_id_field = 43
};
enum NormalizerField : std::uint32_t { name_field = 1, dummy_prefix_field = 3, spaces_field = 4 };

constexpr std::ptrdiff_t byte_count = 256;

class SentencePieceWriter {
 public:
  SentencePieceWriter(const FolderFacts& facts, const FolderVocabulary& vocabulary)
      : facts_(facts), vocabulary_(vocabulary), unknown_(find_unknown()) {}

  std::string write() {
    ProtobufWriter model;
    for (std::uint32_t id = 0; id < vocabulary_.trained_count; ++id) {
      model.add_bytes(piece_field, piece(id));
    }
    model.add_bytes(trainer_field, trainer());
    ProtobufWriter normalizer;
    normalizer.add_bytes(name_field, "identity");
    normalizer.add_varint(
        dummy_prefix_field,
        facts_.model.get_or<bool>(keys::tokenizer_ggml_add_space_prefix, true) ? 1 : 0);
    normalizer.add_varint(spaces_field, 0);
    model.add_bytes(normalizer_field, normalizer.bytes());
    return model.bytes();
  }

 private:
  bool is_laid_over(std::uint32_t id) const {
    return std::ranges::binary_search(vocabulary_.decoded, id) ||
           std::ranges::binary_search(vocabulary_.plain, id);
  }

  /// The piece for unknown texts, which every model has: where the import made a token for control
  /// of it, the key or the usual name tells it.
  std::optional<std::uint32_t> find_unknown() const {
    const auto& tokens = vocabulary_.tokens;
    const auto stated = facts_.model.get_or<std::uint32_t>(
        keys::tokenizer_ggml_unknown_token_id, static_cast<std::uint32_t>(tokens.size()));
    std::optional<std::uint32_t> found;
    for (std::uint32_t id = 0; id < vocabulary_.trained_count; ++id) {
      if (tokens[id].kind == TokenKind::unknown) return std::nullopt;
      const bool fits = (id == stated || tokens[id].text == "<unk>") && is_laid_over(id);
      if (fits && (!found || id == stated)) found = id;
    }
    return found;
  }

  std::string piece(std::uint32_t id) const {
    const DocumentToken& token = vocabulary_.tokens[id];
    ProtobufWriter message;
    message.add_bytes(text_field, token.text);
    // The lists of added tokens give kind and score of a token that they hold.
    message.add_float(score_field, is_laid_over(id) ? 0.0F : token.score);
    const TokenKind kind = id == unknown_                       ? TokenKind::unknown
                           : token.kind == TokenKind::undefined ? TokenKind::normal
                                                                : token.kind;
    if (kind != TokenKind::normal) message.add_varint(type_field, static_cast<std::uint64_t>(kind));
    return message.bytes();
  }

  std::string trainer() const {
    ProtobufWriter message;
    message.add_varint(algorithm_field, SentencePieceModel::bpe);
    message.add_varint(vocabulary_size_field, vocabulary_.trained_count);
    const auto begin = vocabulary_.tokens.begin();
    const bool has_bytes =
        std::count_if(begin, begin + static_cast<std::ptrdiff_t>(vocabulary_.trained_count),
                      [](const DocumentToken& token) { return token.kind == TokenKind::byte; }) ==
        byte_count;
    message.add_varint(byte_fallback_field, has_bytes ? 1 : 0);
    add_id(message, unknown_id_field, keys::tokenizer_ggml_unknown_token_id, unknown_);
    add_id(message, begin_id_field, keys::tokenizer_ggml_bos_token_id, {});
    add_id(message, end_id_field, keys::tokenizer_ggml_eos_token_id, {});
    add_id(message, padding_id_field, keys::tokenizer_ggml_padding_token_id, {});
    return message.bytes();
  }

  /// Ids of tokens that are no pieces stay out.
  void add_id(ProtobufWriter& message, std::uint32_t field, std::string_view key,
              std::optional<std::uint32_t> otherwise) const {
    const Value* const value = facts_.model.find(key);
    const auto stated = value == nullptr ? otherwise : value->get<std::uint32_t>().value_or(0);
    if (stated && *stated < vocabulary_.trained_count) message.add_varint(field, *stated);
  }

  const FolderFacts& facts_;
  const FolderVocabulary& vocabulary_;
  std::optional<std::uint32_t> unknown_;  // unless a token is of that kind
};

}  // namespace

std::string make_sentencepiece(const FolderFacts& facts, const FolderVocabulary& vocabulary) {
  return SentencePieceWriter(facts, vocabulary).write();
}

}  // namespace ingot::huggingface
