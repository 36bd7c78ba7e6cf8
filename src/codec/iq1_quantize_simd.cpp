// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
namespace ingot::codec {
void quantize_iq1_s(const FloatRows& rows) noexcept { quantize_iq1_s_ref(rows); }
void quantize_iq1_m(const FloatRows& rows) noexcept { quantize_iq1_m_ref(rows); }
}  // namespace ingot::codec
