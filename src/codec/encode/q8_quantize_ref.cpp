// SPDX-License-Identifier: MIT
// Importances are ignored: the scale follows from the extremes alone.
#include <algorithm>

#include "codec/blocks/q8.hpp"
#include "codec/codec.hpp"
#include "codec/encode/quantize_common.hpp"
#include "codec/encode/scaled_block.hpp"

namespace ingot::codec {
namespace {

float q8_scale_of(const std::array<float, 32>& x) noexcept { return largest_magnitude(x) / 127.0f; }

void encode(const std::array<float, 32>& x, const float*, BlockQ8_0& block) noexcept {
  const auto scaled = scaled_block(x, q8_scale_of);
  put_f16(block.scale.data(), scaled.scale);
  for (std::size_t i = 0; i < 32; ++i) {
    block.codes[i] = static_cast<std::uint8_t>(round_away(scaled.x[i] * scaled.inverse));
  }
}

void encode(const std::array<float, 32>& x, const float*, BlockQ8_1& block) noexcept {
  const auto scaled = scaled_block(x, q8_scale_of);
  std::int32_t sum = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    const std::int32_t code = round_away(scaled.x[i] * scaled.inverse);
    block.codes[i] = static_cast<std::uint8_t>(code);
    sum += code;
  }
  put_f16(block.scale.data(), scaled.scale);
  put_f16(block.sum.data(), static_cast<float>(sum) * scaled.scale);
}

void encode(const std::array<float, 256>& x, const float*, BlockQ8_K& block) noexcept {
  const float extreme = signed_extreme(x);
  if (extreme == 0.0f) return;  // all bytes are 0
  const float inverse = -127.0f / extreme;
  if (!std::isfinite(inverse)) return;  // counts as a block of zeros
  put_u32(block.scale.data(), std::bit_cast<std::uint32_t>(1.0f / inverse));
  std::array<std::int32_t, 16> sums{};
  for (std::size_t i = 0; i < 256; ++i) {
    const std::int32_t code = std::min(round_even(inverse * x[i]), 127);
    block.codes[i] = static_cast<std::uint8_t>(code);
    sums[i / 16] += code;
  }
  for (std::size_t g = 0; g < 16; ++g) {
    put_u16(&block.sums[2 * g], static_cast<std::uint16_t>(sums[g]));
  }
}

}  // namespace

INGOT_REFERENCE_ENCODER(Q8_0, q8_0)
INGOT_REFERENCE_ENCODER(Q8_1, q8_1)
INGOT_REFERENCE_ENCODER(Q8_K, q8_k)

}  // namespace ingot::codec
