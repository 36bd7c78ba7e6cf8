// SPDX-License-Identifier: MIT
#include <algorithm>

#include "codec/blocks/legacy4.hpp"
#include "codec/codec.hpp"
#include "codec/encode/legacy_weighted.hpp"
#include "codec/encode/quantize_common.hpp"
#include "codec/encode/scaled_block.hpp"

namespace ingot::codec {
namespace {

using Values = std::array<float, 32>;

/// `value` is in [0, 17): the code is its integer part, but at most 15.
unsigned code_of(float value) noexcept { return std::min(static_cast<unsigned>(value), 15u); }

}  // namespace

void quantize_q4_0_ref(const FloatRows& rows) noexcept {
  if (rows.weights != nullptr) return quantize_q4_0_weighted_ref(rows);
  const auto scale_of = [](const Values& x) { return signed_extreme(x) / -8.0f; };
  for_each_block<BlockQ4_0, 32>(rows, [&](const Values& x, const float*, BlockQ4_0& block) {
    const auto scaled = scaled_block(x, scale_of);
    put_f16(block.scale.data(), scaled.scale);
    for (std::size_t i = 0; i < 16; ++i) {
      const unsigned low = code_of(scaled.x[i] * scaled.inverse + 8.5f);
      const unsigned high = code_of(scaled.x[i + 16] * scaled.inverse + 8.5f);
      block.codes[i] = static_cast<std::uint8_t>(low | high << 4);
    }
  });
}

void quantize_q4_1_ref(const FloatRows& rows) noexcept {
  if (rows.weights != nullptr) return quantize_q4_1_weighted_ref(rows);
  const auto scale_of = [](const Values& x) { return range(x) / 15.0f; };
  for_each_block<BlockQ4_1, 32>(rows, [&](const Values& x, const float*, BlockQ4_1& block) {
    const auto scaled = scaled_block(x, scale_of);
    const float minimum = first_smallest(scaled.x);
    put_f16(block.scale.data(), scaled.scale);
    put_f16(block.minimum.data(), minimum);
    for (std::size_t i = 0; i < 16; ++i) {
      const unsigned low = code_of((scaled.x[i] - minimum) * scaled.inverse + 0.5f);
      const unsigned high = code_of((scaled.x[i + 16] - minimum) * scaled.inverse + 0.5f);
      block.codes[i] = static_cast<std::uint8_t>(low | high << 4);
    }
  });
}

}  // namespace ingot::codec
