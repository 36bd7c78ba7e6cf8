// SPDX-License-Identifier: MIT
// The changed tensors of a plan as pieces: what is decoded, changed and encoded at once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ingot/lora.hpp"
#include "work/streams/row_pieces.hpp"

namespace ingot {

/// The number of elements of a piece, and of the rank rows of a half that one piece needs.
inline constexpr std::uint64_t lora_piece_elements = std::uint64_t{1} << 18;

/// The pieces of a tensor; an unchanged one has none.
[[nodiscard]] RowPieces lora_pieces(const MergedTensor& tensor) noexcept;

/// The scratch memory of one thread.
struct LoraScratch {
  std::vector<std::byte> stored;
  std::vector<float> weights;
  std::vector<float> delta;
  std::vector<float> rows;     ///< From the half that has the rows of the piece.
  std::vector<float> columns;  ///< Some ranks of the other half.
};

/// A piece of the result.
struct LoraResult {
  std::vector<std::byte> bytes;
  std::optional<Error> error;
};

/// Makes one piece: decodes, adds the terms, encodes in the byte order of the result. Thread-safe.
[[nodiscard]] Result<void> make_lora_piece(const Model& model, const MergedTensor& tensor,
                                           const RowPiece& piece, LoraScratch& scratch,
                                           std::vector<std::byte>& bytes);

}  // namespace ingot
