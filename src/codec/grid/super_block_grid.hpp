// SPDX-License-Identifier: MIT
// Encodes super-blocks whose groups lie on lattices.
#pragma once

#include "codec/codec.hpp"

namespace ingot::codec {

/// Replaces the super-blocks of Q4_K or Q5_K, which the reference has made, whose groups of 32 lie
/// on lattices of as many codes, if that is nearer to the source. Scales and minimums of groups are
/// whole multiples, up to 63, of two numbers in binary16. A lattice of 256 or more weights is held
/// as Q4_1 would hold it; of several lattices the scales are rounded, not the integers.
void encode_q4_k_on_grid(const FloatRows& rows) noexcept;
void encode_q5_k_on_grid(const FloatRows& rows) noexcept;

}  // namespace ingot::codec
