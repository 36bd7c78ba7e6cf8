// SPDX-License-Identifier: MIT
// Encode numbers without rounding.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/types.hpp"

namespace ingot {

/// The types of `quantize_exactly`, those with the fewest bits first.
inline constexpr std::array exact_types = {
    TensorType::mxfp4, TensorType::q4_0, TensorType::nvfp4, TensorType::q4_1, TensorType::q5_0,
    TensorType::q5_1,  TensorType::q8_0, TensorType::bf16,  TensorType::f16,  TensorType::f32};

/// Encodes numbers without rounding, if the type holds them: decoded, the blocks give every bit of
/// `src`; but MXFP4 and NVFP4 keep the sign of a zero in its code alone, and decode it to +0, as
/// the reference does. So weights that were quantized elsewhere, with scales that binary16 holds,
/// come back from their decoded form. Takes time linear in the elements, and less where it fails.
///
/// @param type  one of exact_types.
/// @param src   whole blocks, back to back; borrowed for the call.
/// @param dst   receives the blocks, little-endian; its size as for `quantize`.
/// @return      whether the type holds all of `src`; if not, `dst` is not specified.
///              Errc::unsupported_type for other types; Errc::size_mismatch.
[[nodiscard]] INGOT_EXPORT Result<bool> quantize_exactly(TensorType type,
                                                         std::span<const float> src,
                                                         std::span<std::byte> dst);

}  // namespace ingot
