// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/iq1_encode.hpp"
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
