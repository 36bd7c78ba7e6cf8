// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/iq3_encode.hpp"
#include "codec/quantize_common.hpp"

namespace ingot::codec {
namespace {

BlockValues importances_of(const BlockValues& x, const float* weights) noexcept {
  const float square = mean_square(x, 2.0f);
  BlockValues w;
  for (std::size_t i = 0; i < x.size(); ++i) {
    w[i] = weights != nullptr ? weights[i] * std::sqrt(square + x[i] * x[i]) : x[i] * x[i];
  }
  return w;
}

}  // namespace

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
