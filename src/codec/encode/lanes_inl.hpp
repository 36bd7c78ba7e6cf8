// SPDX-License-Identifier: MIT
// The common parts of the quantizers with a search: one block per lane, so that sums run from left
// to right within a block, as in the reference, and many blocks advance together. Included once per
// CPU target, after hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_LANES_INL_HPP
#undef INGOT_CODEC_LANES_INL_HPP
#else
#define INGOT_CODEC_LANES_INL_HPP
#endif
// clang-format on

#include <hwy/highway.h>

#include "codec/blocks/block.hpp"
#include "codec/codec.hpp"
#include "codec/encode/encoding_inl.hpp"
#include "codec/encode/quantize_common.hpp"

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

/// Four floats of each fourth block: one in each part of 128 bits.
template <class D>
HWY_INLINE hn::Vec<D> LoadFours(D d, const float* const* blocks, std::size_t element) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::LoadU(d, blocks[0] + element);
  } else {
    const hn::Half<D> half;
    const auto high = LoadFours(half, blocks + hn::MaxLanes(D()) / 2, element);
    return hn::Combine(d, high, LoadFours(half, blocks, element));
  }
}

/// Puts the values of lane_count blocks into the lanes of a tile. Returns the largest magnitude of
/// the values that came by each lane, as bits.
template <std::size_t block_elements>
HWY_INLINE LaneInts FillLanes(const float* const* blocks, LaneTile<block_elements>& tile) {
  const LaneTag f32;
  const hn::RebindToSigned<LaneTag> i32;
  const hn::RepartitionToWide<LaneTag> f64;
  auto largest = hn::Zero(i32);
  for (std::size_t i = 0; i < block_elements; i += 4) {
    LaneFloats fours[4];
    for (std::size_t lane = 0; lane < 4; ++lane) {
      fours[lane] = LoadFours(f32, blocks + lane, i);
      largest = hn::Max(largest, hn::BitCast(i32, hn::Abs(fours[lane])));
    }
    const auto low01 = hn::BitCast(f64, hn::InterleaveLower(f32, fours[0], fours[1]));
    const auto low23 = hn::BitCast(f64, hn::InterleaveLower(f32, fours[2], fours[3]));
    const auto high01 = hn::BitCast(f64, hn::InterleaveUpper(f32, fours[0], fours[1]));
    const auto high23 = hn::BitCast(f64, hn::InterleaveUpper(f32, fours[2], fours[3]));
    tile.SetRow(i, hn::BitCast(f32, hn::InterleaveLower(f64, low01, low23)));
    tile.SetRow(i + 1, hn::BitCast(f32, hn::InterleaveUpper(f64, low01, low23)));
    tile.SetRow(i + 2, hn::BitCast(f32, hn::InterleaveLower(f64, high01, high23)));
    tile.SetRow(i + 3, hn::BitCast(f32, hn::InterleaveUpper(f64, high01, high23)));
  }
  return largest;
}

/// Makes each lane zero that has a value which is not finite; `largest` as FillLanes returns it.
template <std::size_t block_elements>
HWY_INLINE void DropLanesNotFinite(LaneInts largest, LaneTile<block_elements>& tile) {
  const LaneTag f32;
  const hn::RebindToSigned<LaneTag> i32;
  const auto greatest = hn::Set(i32, 0x7F7FFFFF);
  if (hn::AllFalse(i32, hn::Gt(largest, greatest))) return;
  // The values came in fours of other lanes than where they are now.
  largest = hn::Zero(i32);
  for (std::size_t i = 0; i < block_elements; ++i) {
    largest = hn::Max(largest, hn::BitCast(i32, hn::Abs(tile.Row(i))));
  }
  const LaneMask is_dropped = hn::RebindMask(f32, hn::Gt(largest, greatest));
  for (std::size_t i = 0; i < block_elements; ++i) {
    tile.SetRow(i, hn::IfThenZeroElse(is_dropped, tile.Row(i)));
  }
}

/// Encodes all blocks of the rows, lane_count at a time: encode(x, importances, blocks), where `x`
/// and `importances` (null if there are none) are tiles and `blocks` an array of lane_count blocks,
/// and the first ones are kept. Lanes without a block hold zeros, and some importances.
template <class Block, std::size_t block_elements, class Encode>
HWY_INLINE void EncodeLanes(const FloatRows& rows, const Encode& encode) {
  static constexpr float zeros[block_elements] = {};
  LaneTile<block_elements> x;
  LaneTile<block_elements> importances;
  const std::size_t row_blocks = rows.row_elements / block_elements;
  const std::size_t block_count = row_blocks * rows.row_count;
  for (std::size_t first = 0; first < block_count; first += lane_count) {
    const std::size_t used = HWY_MIN(lane_count, block_count - first);
    const float* sources[lane_count];
    for (std::size_t lane = 0; lane < lane_count; ++lane) {
      sources[lane] = lane < used ? rows.src + (first + lane) * block_elements : zeros;
    }
    DropLanesNotFinite(FillLanes(sources, x), x);
    if (rows.importances != nullptr) {
      for (std::size_t lane = 0; lane < lane_count; ++lane) {
        sources[lane] = rows.importances + (first + lane) % row_blocks * block_elements;
      }
      static_cast<void>(FillLanes(sources, importances));
    }
    Block blocks[lane_count] = {};
    encode(x, rows.importances == nullptr ? nullptr : &importances, blocks);
    std::memcpy(rows.dst + first * sizeof(Block), blocks, used * sizeof(Block));
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
