// SPDX-License-Identifier: MIT
// Importances are ignored.
#include "codec/blocks/fp4.hpp"
#include "codec/codec.hpp"
#include "codec/encode/fp4_scales.hpp"
#include "codec/encode/quantize_common.hpp"
#include "codec/encode/scaled_block.hpp"

namespace ingot::codec {
namespace {

/// The code whose value is nearest to x; the lowest one wins a tie.
unsigned nearest_e2m1(float x, float scale) noexcept {
  unsigned best = 0;
  float best_error = std::fabs(x);
  for (unsigned code = 1; code < 16; ++code) {
    const float error = std::fabs(static_cast<float>(e2m1_doubled[code]) * scale - x);
    if (error < best_error) {
      best = code;
      best_error = error;
    }
  }
  return best;
}

}  // namespace

void quantize_mxfp4_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockMXFP4, 32>(rows, [](const auto& x, const float*, BlockMXFP4& block) {
    block.exponent = mxfp4_exponent(largest_magnitude(x));
    const float scale = half_e8m0(block.exponent);
    for (std::size_t i = 0; i < 16; ++i) {
      const unsigned low = nearest_e2m1(x[i], scale);
      const unsigned high = nearest_e2m1(x[i + 16], scale);
      block.codes[i] = static_cast<std::uint8_t>(low | high << 4);
    }
  });
}

void quantize_nvfp4_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockNVFP4, 64>(rows, [](const auto& x, const float*, BlockNVFP4& block) {
    for (std::size_t g = 0; g < 4; ++g) {
      std::array<float, 16> group{};
      std::memcpy(group.data(), &x[16 * g], sizeof group);
      block.scales[g] = ue4m3_from_f32(largest_magnitude(group) / 6.0f);
      const float scale = half_ue4m3(block.scales[g]);
      for (std::size_t i = 0; i < 8; ++i) {
        const unsigned low = nearest_e2m1(group[i], scale);
        const unsigned high = nearest_e2m1(group[i + 8], scale);
        block.codes[8 * g + i] = static_cast<std::uint8_t>(low | high << 4);
      }
    }
  });
}

}  // namespace ingot::codec
