// SPDX-License-Identifier: MIT
// Weights are ignored.
#include "codec/blocks/sign.hpp"
#include "codec/codec.hpp"
#include "codec/encode/quantize_common.hpp"

namespace ingot::codec {

void quantize_q1_0_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockQ1_0, 128>(rows, [](const auto& x, const float*, BlockQ1_0& block) {
    float sum = 0.0f;
    for (std::size_t i = 0; i < 128; ++i) {
      sum += std::fabs(x[i]);
      const unsigned bit = x[i] >= 0.0f ? 1u : 0u;  // also for -0
      block.signs[i / 8] = static_cast<std::uint8_t>(block.signs[i / 8] | bit << i % 8);
    }
    put_f16(block.scale.data(), sum / 128.0f);
  });
}

}  // namespace ingot::codec
