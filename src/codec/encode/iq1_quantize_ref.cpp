// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/encode/iq1_encode.hpp"
#include "codec/encode/quantize_common.hpp"

namespace ingot::codec {

void quantize_iq1_s_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ1_S, 256>(
      rows, [](const BlockValues& x, const float* weights, BlockIQ1_S& block) noexcept {
        encode_iq1_s<ScalarCuts>(x, importances_of(x, weights), block);
      });
}

void quantize_iq1_m_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ1_M, 256>(
      rows, [](const BlockValues& x, const float* weights, BlockIQ1_M& block) noexcept {
        encode_iq1_m<ScalarCuts>(x, importances_of(x, weights), block);
      });
}

}  // namespace ingot::codec
