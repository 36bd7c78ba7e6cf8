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

template <class Block>
void search_codes(const Values& x, const Values& w, Block& block) {
  constexpr bool has_fifth_bits = requires(Block any) { any.high_bits; };
  constexpr int code_count = has_fifth_bits ? 32 : 16;
  Codes codes;
  if constexpr (requires(Block any) { any.minimum; }) {
    const AffineTries tries = {code_count - 1, -0.9f, 0.05f, 36};
    const AffineFit fit = search_affine<32>(x.data(), w.data(), tries, codes.data());
    put_scale(block.scale.data(), fit.scale);
    put_scale(block.minimum.data(), fit.minimum);
  } else {
    put_scale(block.scale.data(),
              search_symmetric<32>(x.data(), w.data(), code_count / 2, codes.data()));
  }
  if constexpr (has_fifth_bits) put_fifth_bits(codes, block.high_bits);
  put_nibbles(codes, block.codes);
}

}  // namespace

void quantize_q4_0_weighted_ref(const FloatRows& rows) noexcept {
  for_each_weighted_block<BlockQ4_0>(rows, search_codes<BlockQ4_0>);
}
void quantize_q4_1_weighted_ref(const FloatRows& rows) noexcept {
  for_each_weighted_block<BlockQ4_1>(rows, search_codes<BlockQ4_1>);
}
void quantize_q5_0_weighted_ref(const FloatRows& rows) noexcept {
  for_each_weighted_block<BlockQ5_0>(rows, search_codes<BlockQ5_0>);
}
void quantize_q5_1_weighted_ref(const FloatRows& rows) noexcept {
  for_each_weighted_block<BlockQ5_1>(rows, search_codes<BlockQ5_1>);
}

}  // namespace ingot::codec
