// SPDX-License-Identifier: MIT
// Q4_0, Q4_1, Q5_0 and Q5_1. Without importances the scale follows from the extremes, with them
// from a search. The weight of an element is u * sqrt(S + x * x), S the mean square of the whole
// row. A block with a NaN or an infinity counts as one of zeros, in S too.
#include <algorithm>

#include "codec/codec.hpp"
#include "codec/encode/packing.hpp"
#include "codec/encode/scaled_block.hpp"
#include "codec/encode/searches.hpp"

namespace ingot::codec {
namespace {

using Values = std::array<float, 32>;

template <class Block>
constexpr bool has_minimum = requires(Block block) {
  block.minimum;
};
template <class Block>
constexpr int code_count = requires(Block block) {
  block.high_bits;
}
? 32 : 16;

/// The largest difference of two values, or the value with the largest magnitude, has the code that
/// is farthest from that of the minimum, or of 0.
template <class Block>
void encode_by_extremes(const Values& x, Block& block) noexcept {
  constexpr float steps = has_minimum<Block> ? code_count<Block> - 1 : code_count<Block> / -2;
  const auto scaled = scaled_block(x, [](const Values& values) {
    return (has_minimum<Block> ? range(values) : signed_extreme(values)) / steps;
  });
  put_f16(block.scale.data(), scaled.scale);
  float minimum = 0.0f;
  if constexpr (has_minimum<Block>) {
    minimum = first_smallest(scaled.x);
    put_f16(block.minimum.data(), minimum);
  }
  constexpr float code_of_minimum = has_minimum<Block> ? 0.0f : -steps;
  Codes<32> codes;
  for (std::size_t i = 0; i < 32; ++i) {
    const float code = (scaled.x[i] - minimum) * scaled.inverse + (code_of_minimum + 0.5f);
    codes[i] = static_cast<std::uint8_t>(std::min(static_cast<int>(code), code_count<Block> - 1));
  }
  put_codes(codes, block);
}

template <class Block>
void encode_by_search(const Values& x, const Values& w, Block& block) noexcept {
  Codes<32> codes;
  if constexpr (has_minimum<Block>) {
    const AffineTries tries = affine_weighted_tries(code_count<Block> - 1);
    const AffineFit fit = search_affine<32>(x.data(), w.data(), tries, codes.data());
    put_scale(block.scale.data(), fit.scale);
    put_scale(block.minimum.data(), fit.minimum);
  } else {
    put_scale(block.scale.data(),
              search_symmetric<32>(x.data(), w.data(), code_count<Block> / 2, codes.data()));
  }
  put_codes(codes, block);
}

/// The mean square of a row, where blocks that are not finite count as zeros.
float mean_square_of(const float* row, std::size_t count) noexcept {
  float sum = 0.0f;
  for (std::size_t first = 0; first < count; first += 32) {
    if (!all_finite(row + first, 32)) continue;
    for (std::size_t i = first; i < first + 32; ++i) sum += row[i] * row[i];
  }
  return sum / static_cast<float>(count);
}

template <class Block>
void quantize_legacy(const FloatRows& rows) noexcept {
  FloatRows one_row = rows;
  one_row.row_count = 1;
  for (std::size_t row = 0; row < rows.row_count; ++row) {
    const float mean_square =
        rows.importances == nullptr ? 0.0f : mean_square_of(one_row.src, rows.row_elements);
    for_each_block<Block, 32>(one_row, [&](const Values& x, const float* u, Block& block) {
      if (u == nullptr) return encode_by_extremes(x, block);
      Values w;
      weigh_by_importance(x.data(), u, mean_square, 32, w.data());
      encode_by_search(x, w, block);
    });
    one_row.src += rows.row_elements;
    one_row.dst += rows.row_elements / 32 * sizeof(Block);
  }
}

}  // namespace

void quantize_q4_0_ref(const FloatRows& rows) noexcept { quantize_legacy<BlockQ4_0>(rows); }
void quantize_q4_1_ref(const FloatRows& rows) noexcept { quantize_legacy<BlockQ4_1>(rows); }
void quantize_q5_0_ref(const FloatRows& rows) noexcept { quantize_legacy<BlockQ5_0>(rows); }
void quantize_q5_1_ref(const FloatRows& rows) noexcept { quantize_legacy<BlockQ5_1>(rows); }

}  // namespace ingot::codec
