// SPDX-License-Identifier: MIT
#include "huggingface/import/tokenizer/sentencepiece_model.hpp"

#include <bit>
#include <optional>

#include "base/messages.hpp"
#include "huggingface/import/tokenizer/protobuf_reader.hpp"

namespace ingot::huggingface {
namespace {

using Wire = ProtobufField::Wire;

Failure wrong_field(const ProtobufField& field, const char* what) {
  return fail(Errc::import_refused, field.file_offset, {}, what);
}

/// Calls `take(field)` for each field of a message.
template <class Take>
Result<void> each_field(ProtobufReader reader, const Take& take) {
  while (true) {
    INGOT_TRY(const std::optional<ProtobufField> field, reader.next());
    if (!field) return {};
    INGOT_TRY_VOID(take(*field));
  }
}

Result<SentencePiece> read_piece(const ProtobufField& message, std::string_view file) {
  SentencePiece piece;
  INGOT_TRY_VOID(
      each_field(ProtobufReader(message, file), [&](const ProtobufField& field) -> Result<void> {
        if (field.number == 1) {
          if (field.wire != Wire::bytes) return wrong_field(field, "the text of a piece is none");
          piece.text = field.bytes;
        } else if (field.number == 2) {
          if (field.wire != Wire::fixed32) {
            return wrong_field(field, "the score of a piece is no float");
          }
          piece.score = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
        } else if (field.number == 3) {
          if (field.wire != Wire::varint || field.value < SentencePiece::normal ||
              field.value > SentencePiece::byte) {
            return wrong_field(field, "the type of a piece is none of 1 to 6");
          }
          piece.type = static_cast<SentencePiece::Type>(field.value);
        }
        return {};
      }));
  return piece;
}

Result<void> read_trainer(const ProtobufField& message, std::string_view file,
                          SentencePieceModel& model) {
  return each_field(ProtobufReader(message, file), [&](const ProtobufField& field) -> Result<void> {
    if (field.number != 3) return {};
    if (field.wire != Wire::varint || field.value < SentencePieceModel::unigram ||
        field.value > SentencePieceModel::character) {
      return wrong_field(field, "the kind of the model is none of 1 to 4");
    }
    model.algorithm = static_cast<SentencePieceModel::Algorithm>(field.value);
    return {};
  });
}

Result<void> read_normalizer(const ProtobufField& message, std::string_view file,
                             SentencePieceModel& model) {
  return each_field(ProtobufReader(message, file), [&](const ProtobufField& field) -> Result<void> {
    if (field.number == 2 && field.wire == Wire::bytes) model.charsmap = field.bytes;
    if (field.number != 3 && field.number != 4) return {};
    if (field.wire != Wire::varint) return wrong_field(field, "a switch of the normalizer is none");
    (field.number == 3 ? model.adds_dummy_prefix : model.removes_extra_whitespaces) =
        field.value != 0;
    return {};
  });
}

Result<SentencePieceModel> parse(std::string_view bytes) {
  SentencePieceModel model;
  INGOT_TRY_VOID(each_field(ProtobufReader(bytes), [&](const ProtobufField& field) -> Result<void> {
    if (field.number > 3) return {};
    if (field.wire != Wire::bytes) return wrong_field(field, "not a model of SentencePiece");
    if (field.number == 2) return read_trainer(field, bytes, model);
    if (field.number == 3) return read_normalizer(field, bytes, model);
    if (model.pieces.size() == max_tokens) {
      return fail(Errc::limit_exceeded, field.file_offset, {},
                  "more than " + std::to_string(max_tokens) + " pieces");
    }
    INGOT_TRY(const SentencePiece piece, read_piece(field, bytes));
    model.pieces.push_back(piece);
    return {};
  }));
  if (!model.pieces.empty()) return model;
  return fail(Errc::import_refused, {}, "it has no pieces, so it is no model of SentencePiece");
}

}  // namespace

Result<SentencePieceModel> parse_sentencepiece(std::string_view bytes, const std::string& file) {
  return with_subject(file, parse(bytes));
}

}  // namespace ingot::huggingface
