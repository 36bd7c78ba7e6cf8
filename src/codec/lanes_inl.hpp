// SPDX-License-Identifier: MIT
// What the quantizing kernels that search share: one block per lane, so that sums run left to right
// within a block as the definition wants, and many blocks advance together. Included once per CPU
// target, after hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_LANES_INL_HPP
#undef INGOT_CODEC_LANES_INL_HPP
#else
#define INGOT_CODEC_LANES_INL_HPP
#endif
// clang-format on

#include <hwy/highway.h>

#include <cmath>

#include "codec/block.hpp"
#include "codec/codec.hpp"
#include "codec/quantize_common.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

using LaneTag = hn::ScalableTag<float>;
using LaneFloats = hn::Vec<LaneTag>;
using LaneInts = hn::Vec<hn::RebindToSigned<LaneTag>>;
using LaneMask = hn::Mask<LaneTag>;

/// Blocks that are encoded at once.
inline constexpr std::size_t lane_count = HWY_LANES(float);

/// Values of lane_count blocks: lane b of row i is element i of block b.
template <std::size_t block_elements>
struct LaneTile {
  HWY_ALIGN float values[block_elements * lane_count];

  [[nodiscard]] HWY_INLINE LaneFloats Row(std::size_t element) const {
    return hn::Load(LaneTag(), values + element * lane_count);
  }
  HWY_INLINE void SetRow(std::size_t element, LaneFloats value) {
    hn::Store(value, LaneTag(), values + element * lane_count);
  }
};

/// round_even of quantize_common.hpp.
HWY_INLINE LaneInts RoundEven(LaneFloats value) {
  const LaneTag f32;
  const hn::RebindToSigned<LaneTag> i32;
  const auto bits = hn::BitCast(i32, hn::Add(value, hn::Set(f32, 12582912.0f)));
  return hn::Sub(hn::And(bits, hn::Set(i32, 0x7FFFFF)), hn::Set(i32, 0x400000));
}

/// Fills a lane with block_elements values, or with zeros if one of them is not finite.
template <std::size_t block_elements>
HWY_INLINE void FillLane(const float* src, std::size_t lane, LaneTile<block_elements>& tile) {
  const bool is_finite = all_finite(src, block_elements);
  for (std::size_t i = 0; i < block_elements; ++i) {
    tile.values[i * lane_count + lane] = is_finite ? src[i] : 0.0f;
  }
}

/// Encodes all blocks of the rows in batches of lane_count: encode(x, weights, blocks), where `x`
/// and `weights` are tiles (weights are null without importances) and `blocks` an array of
/// lane_count blocks, of which the first ones are kept. Lanes without a block hold zeros, and
/// weights of one.
template <class Block, std::size_t block_elements, class Encode>
HWY_INLINE void EncodeLanes(const FloatRows& rows, const Encode& encode) {
  LaneTile<block_elements> x;
  LaneTile<block_elements> weights;
  const std::size_t row_blocks = rows.row_elements / block_elements;
  const std::size_t block_count = row_blocks * rows.row_count;
  for (std::size_t first = 0; first < block_count; first += lane_count) {
    const std::size_t used = HWY_MIN(lane_count, block_count - first);
    for (std::size_t lane = 0; lane < used; ++lane) {
      FillLane(rows.src + (first + lane) * block_elements, lane, x);
      if (rows.weights == nullptr) continue;
      const float* source = rows.weights + (first + lane) % row_blocks * block_elements;
      for (std::size_t i = 0; i < block_elements; ++i) {
        weights.values[i * lane_count + lane] = source[i];
      }
    }
    for (std::size_t lane = used; lane < lane_count; ++lane) {
      for (std::size_t i = 0; i < block_elements; ++i) {
        x.values[i * lane_count + lane] = 0.0f;
        weights.values[i * lane_count + lane] = 1.0f;
      }
    }
    Block blocks[lane_count] = {};
    encode(x, rows.weights == nullptr ? nullptr : &weights, blocks);
    std::memcpy(rows.dst + first * sizeof(Block), blocks, used * sizeof(Block));
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
