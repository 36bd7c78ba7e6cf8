// SPDX-License-Identifier: MIT
// Importances are ignored.
#include "codec/codec.hpp"
#include "codec/encode/fp4_scales.hpp"
#include "codec/encode/packing.hpp"
#include "codec/encode/quantize_common.hpp"
#include "codec/encode/scaled_block.hpp"

namespace ingot::codec {
namespace {

/// The code whose value is nearest to x; the lowest one wins a tie.
std::uint8_t nearest_e2m1(float x, float scale) noexcept {
  std::uint8_t best = 0;
  float best_error = std::fabs(x);
  for (std::uint8_t code = 1; code < 16; ++code) {
    const float error = std::fabs(static_cast<float>(e2m1_doubled[code]) * scale - x);
    if (error < best_error) {
      best = code;
      best_error = error;
    }
  }
  return best;
}

void encode(const std::array<float, 32>& x, const float*, BlockMXFP4& block) noexcept {
  block.exponent = mxfp4_exponent(largest_magnitude(x));
  const float scale = half_e8m0(block.exponent);
  Codes<32> codes;
  for (std::size_t i = 0; i < 32; ++i) codes[i] = nearest_e2m1(x[i], scale);
  put_codes(codes, block);
}

void encode(const std::array<float, 64>& x, const float*, BlockNVFP4& block) noexcept {
  Codes<64> codes;
  for (std::size_t g = 0; g < 4; ++g) {
    std::array<float, 16> group{};
    std::memcpy(group.data(), &x[16 * g], sizeof group);
    block.scales[g] = ue4m3_from_f32(largest_magnitude(group) / 6.0f);
    const float scale = half_ue4m3(block.scales[g]);
    for (std::size_t i = 0; i < 16; ++i) codes[16 * g + i] = nearest_e2m1(group[i], scale);
  }
  put_codes(codes, block);
}

}  // namespace

INGOT_REFERENCE_ENCODER(MXFP4, mxfp4)
INGOT_REFERENCE_ENCODER(NVFP4, nvfp4)

}  // namespace ingot::codec
