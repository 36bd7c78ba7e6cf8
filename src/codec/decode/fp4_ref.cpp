// SPDX-License-Identifier: MIT
#include "codec/blocks/fp4.hpp"
#include "codec/decode/decoding_ref.hpp"

namespace ingot::codec {
namespace {

void decode(const BlockMXFP4& block, float* dst) noexcept {
  const float scale = half_e8m0(block.exponent);
  for (std::size_t i = 0; i < 16; ++i) {
    dst[i] = static_cast<float>(e2m1_doubled[block.codes[i] & 15]) * scale;
    dst[i + 16] = static_cast<float>(e2m1_doubled[block.codes[i] >> 4]) * scale;
  }
}

void decode(const BlockNVFP4& block, float* dst) noexcept {
  for (std::size_t g = 0; g < 4; ++g, dst += 16) {
    const float scale = half_ue4m3(block.scales[g]);
    for (std::size_t i = 0; i < 8; ++i) {
      const unsigned codes = block.codes[8 * g + i];
      dst[i] = static_cast<float>(e2m1_doubled[codes & 15]) * scale;
      dst[i + 8] = static_cast<float>(e2m1_doubled[codes >> 4]) * scale;
    }
  }
}

}  // namespace

INGOT_REFERENCE_DECODER(MXFP4, mxfp4)
INGOT_REFERENCE_DECODER(NVFP4, nvfp4)

}  // namespace ingot::codec
