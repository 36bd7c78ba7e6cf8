// SPDX-License-Identifier: MIT
#include "codec/blocks/ternary.hpp"
#include "codec/decode/decoding_ref.hpp"

namespace ingot::codec {
namespace {

void decode(const BlockQ1_0& block, float* dst) noexcept {
  const float scale = f16_at(block.scale.data());
  for (std::size_t i = 0; i < 128; ++i) {
    *dst++ = (block.signs[i / 8] >> (i % 8) & 1) != 0 ? scale : -scale;
  }
}

void decode(const BlockQ2_0& block, float* dst) noexcept {
  const float scale = f16_at(block.scale.data());
  for (std::size_t i = 0; i < 64; ++i) {
    const int code = block.codes[i / 4] >> (2 * (i % 4)) & 3;
    *dst++ = static_cast<float>(code - 1) * scale;
  }
}

/// Writes `trit_count` rows of weights, row t holding trit t of each byte.
float* decode_trits(const std::uint8_t* bytes, std::size_t byte_count, unsigned trit_count,
                    float scale, float* dst) noexcept {
  unsigned power = 1;
  for (unsigned t = 0; t < trit_count; ++t, power *= 3) {
    for (std::size_t j = 0; j < byte_count; ++j) {
      const unsigned trit = (bytes[j] * power & 255u) * 3 >> 8;
      *dst++ = static_cast<float>(static_cast<int>(trit) - 1) * scale;
    }
  }
  return dst;
}

void decode(const BlockTQ1_0& block, float* dst) noexcept {
  const float scale = f16_at(block.scale.data());
  dst = decode_trits(block.trits.data(), 32, 5, scale, dst);
  dst = decode_trits(block.trits.data() + 32, 16, 5, scale, dst);
  decode_trits(block.trits.data() + 48, 4, 4, scale, dst);
}

void decode(const BlockTQ2_0& block, float* dst) noexcept {
  const float scale = f16_at(block.scale.data());
  for (std::size_t e = 0; e < 256; ++e) {
    const int code = block.codes[32 * (e / 128) + e % 32] >> (2 * (e % 128 / 32)) & 3;
    *dst++ = static_cast<float>(code - 1) * scale;
  }
}

}  // namespace

INGOT_REFERENCE_DECODER(Q1_0, q1_0)
INGOT_REFERENCE_DECODER(Q2_0, q2_0)
INGOT_REFERENCE_DECODER(TQ1_0, tq1_0)
INGOT_REFERENCE_DECODER(TQ2_0, tq2_0)

}  // namespace ingot::codec
