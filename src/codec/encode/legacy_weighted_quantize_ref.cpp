// SPDX-License-Identifier: MIT
#include "codec/blocks/legacy.hpp"
#include "codec/encode/legacy_weighted.hpp"
#include "codec/encode/searches.hpp"

namespace ingot::codec {
namespace {

using Values = std::array<float, 32>;
using Codes = std::array<std::uint8_t, 32>;

/// The mean square of a row, where blocks that are not finite count as zeros.
float mean_square_of(const float* row, std::size_t count) {
  float sum = 0.0f;
  for (std::size_t first = 0; first < count; first += 32) {
    if (!all_finite(row + first, 32)) continue;
    for (std::size_t i = first; i < first + 32; ++i) sum += row[i] * row[i];
  }
  return sum / static_cast<float>(count);
}

/// Calls encode(x, w, block) with the values and the weights of each block.
template <class Block, class Encode>
void for_each_weighted_block(const FloatRows& rows, const Encode& encode) {
  for (std::size_t row = 0; row < rows.row_count; ++row) {
    const float* src = rows.src + row * rows.row_elements;
    const float mean_square = mean_square_of(src, rows.row_elements);
    const FloatRows one_row = {
        .src = src,
        .dst = rows.dst + row * (rows.row_elements / 32) * sizeof(Block),
        .row_elements = rows.row_elements,
        .row_count = 1,
        .importances = rows.importances,
    };
    for_each_block<Block, 32>(one_row, [&](const Values& x, const float* u, Block& block) {
      Values w;
      weigh_by_importance(x.data(), u, mean_square, 32, w.data());
      encode(x, w, block);
    });
  }
}

void put_nibbles(const Codes& codes, Bytes<16>& bytes) {
  for (std::size_t i = 0; i < 16; ++i) {
    bytes[i] = static_cast<std::uint8_t>((codes[i] & 15) | (codes[i + 16] & 15) << 4);
  }
}

void put_fifth_bits(const Codes& codes, Bytes<4>& bytes) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < 32; ++i) bits |= std::uint32_t{codes[i] >> 4 & 1u} << i;
  put_u32(bytes.data(), bits);
}

}  // namespace

void quantize_q4_0_weighted_ref(const FloatRows& rows) noexcept {
  for_each_weighted_block<BlockQ4_0>(rows, [](const Values& x, const Values& w, auto& block) {
    Codes codes;
    put_scale(block.scale.data(), search_symmetric<32>(x.data(), w.data(), 8, codes.data()));
    put_nibbles(codes, block.codes);
  });
}

void quantize_q4_1_weighted_ref(const FloatRows& rows) noexcept {
  for_each_weighted_block<BlockQ4_1>(rows, [](const Values& x, const Values& w, auto& block) {
    Codes codes;
    const AffineTries tries = {15, -0.9f, 0.05f, 36};
    const AffineFit fit = search_affine<32>(x.data(), w.data(), tries, codes.data());
    put_scale(block.scale.data(), fit.scale);
    put_scale(block.minimum.data(), fit.minimum);
    put_nibbles(codes, block.codes);
  });
}

void quantize_q5_0_weighted_ref(const FloatRows& rows) noexcept {
  for_each_weighted_block<BlockQ5_0>(rows, [](const Values& x, const Values& w, auto& block) {
    Codes codes;
    put_scale(block.scale.data(), search_symmetric<32>(x.data(), w.data(), 16, codes.data()));
    put_fifth_bits(codes, block.high_bits);
    put_nibbles(codes, block.codes);
  });
}

void quantize_q5_1_weighted_ref(const FloatRows& rows) noexcept {
  for_each_weighted_block<BlockQ5_1>(rows, [](const Values& x, const Values& w, auto& block) {
    Codes codes;
    const AffineTries tries = {31, -0.9f, 0.05f, 36};
    const AffineFit fit = search_affine<32>(x.data(), w.data(), tries, codes.data());
    put_scale(block.scale.data(), fit.scale);
    put_scale(block.minimum.data(), fit.minimum);
    put_fifth_bits(codes, block.high_bits);
    put_nibbles(codes, block.codes);
  });
}

}  // namespace ingot::codec
