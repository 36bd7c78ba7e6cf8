// SPDX-License-Identifier: MIT
#include <algorithm>

#include "codec/blocks/legacy5.hpp"
#include "codec/codec.hpp"
#include "codec/encode/legacy_weighted.hpp"
#include "codec/encode/quantize_common.hpp"
#include "codec/encode/scaled_block.hpp"

namespace ingot::codec {
namespace {

using Values = std::array<float, 32>;

/// `value` is in [0, 33): the code is its integer part, but at most 31.
unsigned code_of(float value) noexcept { return std::min(static_cast<unsigned>(value), 31u); }

/// Element i has code `low`, element i + 16 code `high`.
template <class Block>
void put_codes(Block& block, std::size_t i, unsigned low, unsigned high) noexcept {
  block.codes[i] = static_cast<std::uint8_t>((low & 15u) | (high & 15u) << 4);
  const std::uint32_t fifth_bits = low >> 4 << i | high >> 4 << (i + 16);
  put_u32(block.high_bits.data(), u32_at(block.high_bits.data()) | fifth_bits);
}

}  // namespace

void quantize_q5_0_ref(const FloatRows& rows) noexcept {
  if (rows.weights != nullptr) return quantize_q5_0_weighted_ref(rows);
  const auto scale_of = [](const Values& x) { return signed_extreme(x) / -16.0f; };
  for_each_block<BlockQ5_0, 32>(rows, [&](const Values& x, const float*, BlockQ5_0& block) {
    const auto scaled = scaled_block(x, scale_of);
    put_f16(block.scale.data(), scaled.scale);
    for (std::size_t i = 0; i < 16; ++i) {
      put_codes(block, i, code_of(scaled.x[i] * scaled.inverse + 16.5f),
                code_of(scaled.x[i + 16] * scaled.inverse + 16.5f));
    }
  });
}

void quantize_q5_1_ref(const FloatRows& rows) noexcept {
  if (rows.weights != nullptr) return quantize_q5_1_weighted_ref(rows);
  const auto scale_of = [](const Values& x) { return range(x) / 31.0f; };
  for_each_block<BlockQ5_1, 32>(rows, [&](const Values& x, const float*, BlockQ5_1& block) {
    const auto scaled = scaled_block(x, scale_of);
    const float minimum = first_smallest(scaled.x);
    put_f16(block.scale.data(), scaled.scale);
    put_f16(block.minimum.data(), minimum);
    for (std::size_t i = 0; i < 16; ++i) {
      put_codes(block, i, code_of((scaled.x[i] - minimum) * scaled.inverse + 0.5f),
                code_of((scaled.x[i + 16] - minimum) * scaled.inverse + 0.5f));
    }
  });
}

}  // namespace ingot::codec
