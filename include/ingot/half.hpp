// SPDX-License-Identifier: MIT
// Sixteen-bit floats.
#pragma once

#include <cstdint>

#include "ingot/export.h"

namespace ingot {

/// binary16 to binary32, exact. A NaN keeps its sign and payload and becomes quiet.
[[nodiscard]] INGOT_EXPORT float f32_from_f16(std::uint16_t bits) noexcept;

/// binary32 to binary16, round to nearest even; overflow becomes infinity; a NaN becomes
/// 0x7E00 with its sign.
[[nodiscard]] INGOT_EXPORT std::uint16_t f16_from_f32(float value) noexcept;

/// bfloat16 to binary32, exact.
[[nodiscard]] INGOT_EXPORT float f32_from_bf16(std::uint16_t bits) noexcept;

/// binary32 to bfloat16, round to nearest even; a NaN keeps its upper half and becomes quiet.
[[nodiscard]] INGOT_EXPORT std::uint16_t bf16_from_f32(float value) noexcept;

}  // namespace ingot
