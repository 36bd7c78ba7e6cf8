// SPDX-License-Identifier: MIT
// Importances are ignored: the scale is the mean magnitude (Q1_0) or the largest one.
#include "codec/codec.hpp"
#include "codec/encode/packing.hpp"
#include "codec/encode/quantize_common.hpp"
#include "codec/encode/scaled_block.hpp"

namespace ingot::codec {
namespace {

void encode(const std::array<float, 128>& x, const float*, BlockQ1_0& block) noexcept {
  float sum = 0.0f;
  Codes<128> codes;
  for (std::size_t i = 0; i < 128; ++i) {
    sum += std::fabs(x[i]);
    codes[i] = x[i] >= 0.0f ? 1 : 0;  // 1 also for -0
  }
  put_f16(block.scale.data(), sum / 128.0f);
  put_codes(codes, block);
}

/// Codes 0, 1, 2 for -scale, 0, scale.
template <std::size_t count, class Block>
void encode(const std::array<float, count>& x, const float*, Block& block) noexcept {
  const auto scaled = scaled_block(x, [](const auto& values) { return largest_magnitude(values); });
  put_f16(block.scale.data(), scaled.scale);
  Codes<count> codes;
  for (std::size_t i = 0; i < count; ++i) {
    // No magnitude times the inverse reaches 1.5, so a code is never 3.
    codes[i] = static_cast<std::uint8_t>(round_away(scaled.x[i] * scaled.inverse) + 1);
  }
  put_codes(codes, block);
}

}  // namespace

INGOT_REFERENCE_ENCODER(Q1_0, q1_0)
INGOT_REFERENCE_ENCODER(Q2_0, q2_0)
INGOT_REFERENCE_ENCODER(TQ1_0, tq1_0)
INGOT_REFERENCE_ENCODER(TQ2_0, tq2_0)

}  // namespace ingot::codec
