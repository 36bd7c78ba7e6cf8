// SPDX-License-Identifier: MIT
// Error feedback: weights of a row are rounded one after the other, and those that are still to
// come make good what the inputs of the matrix make of each error. The errors of single weights
// grow, that of the outputs falls. The idea is that of GPTQ, with the scales of GGUF's blocks:
// each block is encoded as well as a search can when its turn comes, its scales stay, and its codes
// are chosen anew.
#pragma once

#include <cstddef>

#include "codec/codec.hpp"
#include "codec/feedback/input_moments.hpp"
#include "ingot/export.h"

namespace ingot::codec {

/// Chooses the codes of an encoded block anew, from left to right, with its scales as they are.
///
/// @param block         is changed.
/// @param first_column  of the block.
/// @param row           the whole row, from its first column on; what is to the right of each code
///                      is changed by its error.
using RecodeBlock = void (*)(std::byte* block, std::size_t first_column, float* row,
                             const InputMoments& moments) noexcept;

/// Null for types that have no feedback. O(types), thread-safe.
[[nodiscard]] RecodeBlock find_recoder(TensorType type) noexcept;

/// Whether quantize_with_feedback encodes a type.
[[nodiscard]] INGOT_EXPORT bool has_feedback(TensorType type) noexcept;

/// Encodes rows by `quantize_best` and with feedback, whose rows get the scale that makes their
/// outputs no shorter; of both, each row is the one with the lower output error.
///
/// @param rows     whole rows, as long as the moments.
/// @param moments  with feedback.
/// @return  the output error of what was kept. Allocates some times the memory of the rows.
[[nodiscard]] INGOT_EXPORT OutputEnergy quantize_with_feedback(TensorType type,
                                                               const FloatRows& rows,
                                                               const InputMoments& moments);

/// The output error of decoded rows.
[[nodiscard]] INGOT_EXPORT OutputEnergy measure_outputs(const float* source, const float* decoded,
                                                        std::size_t row_count,
                                                        const InputMoments& moments);

}  // namespace ingot::codec
