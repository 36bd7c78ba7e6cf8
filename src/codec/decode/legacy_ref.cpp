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

/// A code of Q5_0 or Q5_1 from its nibble and bit `i` of the fifth bits.
int five_bits_of(unsigned nibble, std::uint32_t fifth_bits, std::size_t i) noexcept {
  return static_cast<int>(nibble | (fifth_bits >> i & 1u) << 4);
}

void decode(const BlockQ5_0& block, float* dst) noexcept {
  const float scale = f16_at(block.scale.data());
  const std::uint32_t high = u32_at(block.high_bits.data());
  for (std::size_t i = 0; i < 16; ++i) {
    dst[i] = static_cast<float>(five_bits_of(block.codes[i] & 15u, high, i) - 16) * scale;
    dst[i + 16] = static_cast<float>(five_bits_of(block.codes[i] >> 4, high, i + 16) - 16) * scale;
  }
}

void decode(const BlockQ5_1& block, float* dst) noexcept {
  const float scale = f16_at(block.scale.data());
  const float minimum = f16_at(block.minimum.data());
  const std::uint32_t high = u32_at(block.high_bits.data());
  for (std::size_t i = 0; i < 16; ++i) {
    dst[i] = static_cast<float>(five_bits_of(block.codes[i] & 15u, high, i)) * scale + minimum;
    dst[i + 16] =
        static_cast<float>(five_bits_of(block.codes[i] >> 4, high, i + 16)) * scale + minimum;
  }
}

}  // namespace

INGOT_REFERENCE_DECODER(Q4_0, q4_0)
INGOT_REFERENCE_DECODER(Q4_1, q4_1)
INGOT_REFERENCE_DECODER(Q5_0, q5_0)
INGOT_REFERENCE_DECODER(Q5_1, q5_1)

}  // namespace ingot::codec
