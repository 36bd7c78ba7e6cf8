// SPDX-License-Identifier: MIT
#include "codec/blocks/legacy.hpp"
#include "codec/decode/decoding_ref.hpp"

namespace ingot::codec {
namespace {

void decode(const BlockQ4_0& block, float* dst) noexcept {
  const float scale = f16_at(block.scale.data());
  for (std::size_t i = 0; i < 16; ++i) {
    dst[i] = static_cast<float>((block.codes[i] & 15) - 8) * scale;
    dst[i + 16] = static_cast<float>((block.codes[i] >> 4) - 8) * scale;
  }
}

void decode(const BlockQ4_1& block, float* dst) noexcept {
  const float scale = f16_at(block.scale.data());
  const float minimum = f16_at(block.minimum.data());
  for (std::size_t i = 0; i < 16; ++i) {
    dst[i] = static_cast<float>(block.codes[i] & 15) * scale + minimum;
    dst[i + 16] = static_cast<float>(block.codes[i] >> 4) * scale + minimum;
  }
}

/// The code of element i of Q5_0 and Q5_1.
template <class Block>
int five_bits_of(const Block& block, std::size_t i) noexcept {
  const int low = block.codes[i % 16] >> (4 * (i / 16)) & 15;
  return low | (block.high_bits[i / 8] >> (i % 8) & 1) << 4;
}

void decode(const BlockQ5_0& block, float* dst) noexcept {
  const float scale = f16_at(block.scale.data());
  for (std::size_t i = 0; i < 32; ++i) {
    dst[i] = static_cast<float>(five_bits_of(block, i) - 16) * scale;
  }
}

void decode(const BlockQ5_1& block, float* dst) noexcept {
  const float scale = f16_at(block.scale.data());
  const float minimum = f16_at(block.minimum.data());
  for (std::size_t i = 0; i < 32; ++i) {
    dst[i] = static_cast<float>(five_bits_of(block, i)) * scale + minimum;
  }
}

}  // namespace

INGOT_REFERENCE_DECODER(Q4_0, q4_0)
INGOT_REFERENCE_DECODER(Q4_1, q4_1)
INGOT_REFERENCE_DECODER(Q5_0, q5_0)
INGOT_REFERENCE_DECODER(Q5_1, q5_1)

}  // namespace ingot::codec
