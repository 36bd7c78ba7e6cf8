// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/encode/iq3_encode.hpp"
#include "codec/encode/quantize_common.hpp"

namespace ingot::codec {

void quantize_iq3_xxs_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ3_XXS, 256>(
      rows, [](const BlockValues& x, const float* weights, BlockIQ3_XXS& block) noexcept {
        encode_iq3_xxs<ScalarMethod>(x, importances_of(x, weights), block);
      });
}

void quantize_iq3_s_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ3_S, 256>(
      rows, [](const BlockValues& x, const float* weights, BlockIQ3_S& block) noexcept {
        encode_iq3_s<ScalarMethod>(x, importances_of(x, weights), block);
      });
}

}  // namespace ingot::codec
