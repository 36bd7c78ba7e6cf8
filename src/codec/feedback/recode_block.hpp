// SPDX-License-Identifier: MIT
// Error feedback: weights of a row are rounded one after the other, and those that are still to
// come make good what the inputs of the matrix make of each error. The errors of single weights
// grow, that of the outputs falls. The idea is that of GPTQ, with the scales of GGUF's blocks:
// each block is encoded as well as a search can when its turn comes, its scales stay, and its codes
// are chosen anew.
#pragma once

#include <cstddef>

#include "codec/codec.hpp"
#include "ingot/error_feedback.hpp"

namespace ingot::codec {

/// Chooses the codes of an encoded block anew, from left to right, with its scales as they are.
///
/// @param block         is changed.
/// @param first_column  of the block.
/// @param row           the whole row, from its first column on; what is to the right of each code
///                      is changed by its error.
using RecodeBlock = void (*)(std::byte* block, std::size_t first_column, float* row,
                             const InputMoments& moments) noexcept;

/// The recoder of a type; null if it has no feedback. O(types), thread-safe.
[[nodiscard]] RecodeBlock find_recoder(TensorType type) noexcept;

/// Works like the public function, for rows that fit.
[[nodiscard]] OutputEnergy quantize_with_feedback(TensorType type, const FloatRows& rows,
                                                  const InputMoments& moments);

}  // namespace ingot::codec
