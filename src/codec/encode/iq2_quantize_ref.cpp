// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/encode/iq2_encode.hpp"
#include "codec/encode/quantize_common.hpp"

namespace ingot::codec {
namespace {

/// Importances from weights, which may be null.
BlockValues importances_of(const BlockValues& x, const float* weights, float square) noexcept {
  BlockValues w;
  for (std::size_t i = 0; i < x.size(); ++i) {
    w[i] = weights != nullptr ? weights[i] * std::sqrt(square + x[i] * x[i])
                              : 0.25f * square + x[i] * x[i];
  }
  return w;
}

}  // namespace

void quantize_iq2_xxs_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ2_XXS, 256>(
      rows, [](const BlockValues& x, const float* weights, BlockIQ2_XXS& block) noexcept {
        const BlockValues w = importances_of(x, weights, mean_square(x, 1.0f));
        encode_iq2_xxs<ScalarMethod>(x, w, block);
      });
}

void quantize_iq2_xs_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ2_XS, 256>(
      rows, [](const BlockValues& x, const float* weights, BlockIQ2_XS& block) noexcept {
        const BlockValues w = importances_of(x, weights, mean_square(x, 1.0f));
        encode_iq2_xs<ScalarMethod>(x, w, block);
      });
}

void quantize_iq2_s_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockIQ2_S, 256>(
      rows, [](const BlockValues& x, const float* weights, BlockIQ2_S& block) noexcept {
        const BlockValues w = importances_of(x, weights, mean_square(x, 2.0f));
        encode_iq2_s<ScalarMethod>(x, w, block);
      });
}

}  // namespace ingot::codec
