// SPDX-License-Identifier: MIT
// Encodes blocks that lie on a lattice by its own scale and integers.
#pragma once

#include "codec/codec.hpp"

namespace ingot::codec {

/// Replaces the blocks of `rows`, which the reference has made, that lie on a lattice which the
/// type holds: Q4_0, Q4_1, Q5_0, Q5_1 and Q8_0, and nearly Q4_K and Q5_K (super_block_grid.hpp);
/// those of other types stay. The scale, and the minimum, are the ones near the middle of what
/// explains all weights; where binary16 has one that does, each weight is the source after
/// rounding.
void encode_grid(TensorType type, const FloatRows& rows) noexcept;

}  // namespace ingot::codec
