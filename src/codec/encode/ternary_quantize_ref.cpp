// SPDX-License-Identifier: MIT
// Importances are ignored: the scale is the mean magnitude (Q1_0) or the largest one.
#include "codec/blocks/ternary.hpp"
#include "codec/codec.hpp"
#include "codec/encode/quantize_common.hpp"
#include "codec/encode/scaled_block.hpp"

namespace ingot::codec {
namespace {

/// The scale as binary16, and codes 0, 1, 2 for -scale, 0, scale.
template <std::size_t count>
std::array<unsigned, count> ternary_codes(const std::array<float, count>& x,
                                          Bytes<2>& scale) noexcept {
  const auto scaled = scaled_block(x, [](const auto& values) { return largest_magnitude(values); });
  put_f16(scale.data(), scaled.scale);
  std::array<unsigned, count> codes{};
  for (std::size_t i = 0; i < count; ++i) {
    // No magnitude times the inverse reaches 1.5, so a code is never 3.
    codes[i] = static_cast<unsigned>(round_away(scaled.x[i] * scaled.inverse) + 1);
  }
  return codes;
}

/// Packs rows of `columns` trits into `columns` bytes; a missing fifth row counts as zeros.
void pack_trits(const unsigned* trits, std::size_t rows, std::size_t columns,
                std::uint8_t* dst) noexcept {
  for (std::size_t column = 0; column < columns; ++column) {
    unsigned number = 0;
    for (std::size_t row = 0; row < 5; ++row) {
      number = number * 3 + (row < rows ? trits[row * columns + column] : 0);
    }
    dst[column] = static_cast<std::uint8_t>((number * 256 + 242) / 243);
  }
}

}  // namespace

void quantize_q1_0_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockQ1_0, 128>(rows, [](const auto& x, const float*, BlockQ1_0& block) {
    float sum = 0.0f;
    for (std::size_t i = 0; i < 128; ++i) {
      sum += std::fabs(x[i]);
      const unsigned bit = x[i] >= 0.0f ? 1u : 0u;  // also for -0
      block.signs[i / 8] = static_cast<std::uint8_t>(block.signs[i / 8] | bit << i % 8);
    }
    put_f16(block.scale.data(), sum / 128.0f);
  });
}

void quantize_q2_0_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockQ2_0, 64>(rows, [](const auto& x, const float*, BlockQ2_0& block) {
    const auto codes = ternary_codes(x, block.scale);
    for (std::size_t i = 0; i < 64; ++i) {
      block.codes[i / 4] = static_cast<std::uint8_t>(block.codes[i / 4] | codes[i] << 2 * (i % 4));
    }
  });
}

void quantize_tq1_0_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockTQ1_0, 256>(rows, [](const auto& x, const float*, BlockTQ1_0& block) {
    const auto trits = ternary_codes(x, block.scale);
    pack_trits(&trits[0], 5, 32, &block.trits[0]);
    pack_trits(&trits[160], 5, 16, &block.trits[32]);
    pack_trits(&trits[240], 4, 4, &block.trits[48]);
  });
}

void quantize_tq2_0_ref(const FloatRows& rows) noexcept {
  for_each_block<BlockTQ2_0, 256>(rows, [](const auto& x, const float*, BlockTQ2_0& block) {
    const auto codes = ternary_codes(x, block.scale);
    for (std::size_t e = 0; e < 256; ++e) {
      std::uint8_t& byte = block.codes[32 * (e / 128) + e % 32];
      byte = static_cast<std::uint8_t>(byte | codes[e] << 2 * (e % 128 / 32));
    }
  });
}

}  // namespace ingot::codec
