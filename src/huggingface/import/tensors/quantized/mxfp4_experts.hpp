// SPDX-License-Identifier: MIT
// Experts of gpt-oss in MXFP4: blocks and scales in two tensors become one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "huggingface/import/tensors/piece_source.hpp"
#include "huggingface/import/tensors/source_tensors.hpp"
#include "ingot/error.hpp"

namespace ingot::huggingface {

/// A block: a scale, and 32 codes in 16 bytes, of which byte j holds elements j and j + 16.
inline constexpr std::size_t mxfp4_code_bytes = 16;
inline constexpr std::size_t mxfp4_block_bytes = 1 + mxfp4_code_bytes;
inline constexpr std::uint64_t mxfp4_elements = 32;

/// The codes of a block as the tensors of blocks have them: byte j holds elements 2j and 2j + 1.
void pair_codes(const std::byte* block, std::byte* codes) noexcept;

struct Mxfp4Experts {
  std::vector<std::uint64_t> shape;  ///< Row-major: experts, rows, columns.
  std::shared_ptr<const PieceSource> pieces;
};

/// @param blocks  U8 [experts, rows, columns / 32, 16]: byte j holds elements 2j (low) and 2j + 1.
/// @param scales  U8 [experts, rows, columns / 32].
/// @param every   takes rows first, first + every, first + 2 every ...
[[nodiscard]] Result<Mxfp4Experts> mxfp4_experts(const SourceTensor& blocks,
                                                 const SourceTensor& scales, std::uint64_t first,
                                                 std::uint64_t every);

/// Experts that have a tensor of codes, I8 or U8 [rows, columns / 2], and one of scales,
/// [rows, columns / 32], each.
[[nodiscard]] Result<Mxfp4Experts> join_mxfp4_experts(
    const std::vector<std::pair<SourceTensor, SourceTensor>>& experts);

}  // namespace ingot::huggingface
