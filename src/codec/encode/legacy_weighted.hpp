// SPDX-License-Identifier: MIT
// Q4_0, Q4_1, Q5_0 and Q5_1 with importances: a search; without importances, the scale follows
// from the extremes. Only for rows that have importances.
//
// The weight of an element is u * sqrt(S + x * x), S the mean square of the whole row. A block with
// a NaN or an infinity counts as one of zeros, in S too.
#pragma once

#include "codec/codec.hpp"

namespace ingot::codec {

void quantize_q4_0_weighted_ref(const FloatRows& rows) noexcept;
void quantize_q4_1_weighted_ref(const FloatRows& rows) noexcept;
void quantize_q5_0_weighted_ref(const FloatRows& rows) noexcept;
void quantize_q5_1_weighted_ref(const FloatRows& rows) noexcept;

void quantize_q4_0_weighted(const FloatRows& rows) noexcept;
void quantize_q4_1_weighted(const FloatRows& rows) noexcept;
void quantize_q5_0_weighted(const FloatRows& rows) noexcept;
void quantize_q5_1_weighted(const FloatRows& rows) noexcept;

}  // namespace ingot::codec
