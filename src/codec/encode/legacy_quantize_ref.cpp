// SPDX-License-Identifier: MIT
#include <algorithm>

#include "codec/blocks/legacy.hpp"
#include "codec/codec.hpp"
#include "codec/encode/legacy_weighted.hpp"
#include "codec/encode/quantize_common.hpp"
#include "codec/encode/scaled_block.hpp"

namespace ingot::codec {
namespace {

using Values = std::array<float, 32>;

/// The integer part of `value`, which is in [0, max_code + 2), but at most max_code.
unsigned code_of(float value, unsigned max_code) noexcept {
  return std::min(static_cast<unsigned>(value), max_code);
}

/// Element i has code `low`, element i + 16 code `high`.
template <class Block>
void put_codes(Block& block, std::size_t i, unsigned low, unsigned high) noexcept {
  block.codes[i] = static_cast<std::uint8_t>((low & 15u) | (high & 15u) << 4);
  const std::uint32_t fifth_bits = low >> 4 << i | high >> 4 << (i + 16);
  put_u32(block.high_bits.data(), u32_at(block.high_bits.data()) | fifth_bits);
}

}  // namespace

void quantize_q4_0_ref(const FloatRows& rows) noexcept {
  if (rows.importances != nullptr) return quantize_q4_0_weighted_ref(rows);
  const auto scale_of = [](const Values& x) { return signed_extreme(x) / -8.0f; };
  for_each_block<BlockQ4_0, 32>(rows, [&](const Values& x, const float*, BlockQ4_0& block) {
    const auto scaled = scaled_block(x, scale_of);
    put_f16(block.scale.data(), scaled.scale);
    for (std::size_t i = 0; i < 16; ++i) {
      const unsigned low = code_of(scaled.x[i] * scaled.inverse + 8.5f, 15);
      const unsigned high = code_of(scaled.x[i + 16] * scaled.inverse + 8.5f, 15);
      block.codes[i] = static_cast<std::uint8_t>(low | high << 4);
    }
  });
}

void quantize_q4_1_ref(const FloatRows& rows) noexcept {
  if (rows.importances != nullptr) return quantize_q4_1_weighted_ref(rows);
  const auto scale_of = [](const Values& x) { return range(x) / 15.0f; };
  for_each_block<BlockQ4_1, 32>(rows, [&](const Values& x, const float*, BlockQ4_1& block) {
    const auto scaled = scaled_block(x, scale_of);
    const float minimum = first_smallest(scaled.x);
    put_f16(block.scale.data(), scaled.scale);
    put_f16(block.minimum.data(), minimum);
    for (std::size_t i = 0; i < 16; ++i) {
      const unsigned low = code_of((scaled.x[i] - minimum) * scaled.inverse + 0.5f, 15);
      const unsigned high = code_of((scaled.x[i + 16] - minimum) * scaled.inverse + 0.5f, 15);
      block.codes[i] = static_cast<std::uint8_t>(low | high << 4);
    }
  });
}

void quantize_q5_0_ref(const FloatRows& rows) noexcept {
  if (rows.importances != nullptr) return quantize_q5_0_weighted_ref(rows);
  const auto scale_of = [](const Values& x) { return signed_extreme(x) / -16.0f; };
  for_each_block<BlockQ5_0, 32>(rows, [&](const Values& x, const float*, BlockQ5_0& block) {
    const auto scaled = scaled_block(x, scale_of);
    put_f16(block.scale.data(), scaled.scale);
    for (std::size_t i = 0; i < 16; ++i) {
      put_codes(block, i, code_of(scaled.x[i] * scaled.inverse + 16.5f, 31),
                code_of(scaled.x[i + 16] * scaled.inverse + 16.5f, 31));
    }
  });
}

void quantize_q5_1_ref(const FloatRows& rows) noexcept {
  if (rows.importances != nullptr) return quantize_q5_1_weighted_ref(rows);
  const auto scale_of = [](const Values& x) { return range(x) / 31.0f; };
  for_each_block<BlockQ5_1, 32>(rows, [&](const Values& x, const float*, BlockQ5_1& block) {
    const auto scaled = scaled_block(x, scale_of);
    const float minimum = first_smallest(scaled.x);
    put_f16(block.scale.data(), scaled.scale);
    put_f16(block.minimum.data(), minimum);
    for (std::size_t i = 0; i < 16; ++i) {
      put_codes(block, i, code_of((scaled.x[i] - minimum) * scaled.inverse + 0.5f, 31),
                code_of((scaled.x[i + 16] - minimum) * scaled.inverse + 0.5f, 31));
    }
  });
}

}  // namespace ingot::codec
