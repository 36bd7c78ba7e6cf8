// SPDX-License-Identifier: MIT
#define HWY_TARGET_INCLUDE "codec/encode/iq_quantize_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/encode/encoding_inl.hpp"
#include "codec/encode/iq1_cuts_inl.hpp"
#include "codec/encode/iq1_encode.hpp"
#include "codec/encode/iq23_encode.hpp"
#include "codec/encode/lattice_search_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// Fills in the weight of an error in each value, see iq_encoders.def.
HWY_INLINE void FillWeights(const BlockValues& x, const float* importances, float mean, float share,
                            BlockValues& w) {
  const SnapTag f32;
  for (std::size_t i = 0; i < 256; i += snap_lanes) {
    const auto value = hn::LoadU(f32, x.data() + i);
    const auto square = hn::Mul(value, value);
    if (importances != nullptr) {
      const auto root = hn::Sqrt(hn::Add(hn::Set(f32, mean), square));
      hn::StoreU(hn::Mul(hn::LoadU(f32, importances + i), root), f32, w.data() + i);
    } else {
      hn::StoreU(hn::Add(hn::Set(f32, share == 0.0f ? 0.0f : share * mean), square), f32,
                 w.data() + i);
    }
  }
}

/// The sums of the squares of four super-blocks, each from left to right: four chains of additions
/// take as long as one.
HWY_INLINE void SumSquares(const BlockValues* x, float* sums) {
  float s0 = 0.0f;
  float s1 = 0.0f;
  float s2 = 0.0f;
  float s3 = 0.0f;
  for (std::size_t i = 0; i < 256; ++i) {
    s0 += x[0][i] * x[0][i];
    s1 += x[1][i] * x[1][i];
    s2 += x[2][i] * x[2][i];
    s3 += x[3][i] * x[3][i];
  }
  sums[0] = s0;
  sums[1] = s1;
  sums[2] = s2;
  sums[3] = s3;
}

/// Whether all values are so small that no sum of a search is infinite or NaN.
HWY_INLINE bool IsTame(const BlockValues& x, const BlockValues& w) {
  const SnapTag f32;
  auto wild = hn::Zero(f32);
  for (std::size_t i = 0; i < 256; i += snap_lanes) {
    const auto weight = hn::LoadU(f32, w.data() + i);
    const auto magnitude = hn::Abs(hn::LoadU(f32, x.data() + i));
    const auto is_tame =
        hn::And(hn::Le(magnitude, hn::Set(f32, 1e12f)),
                hn::And(hn::Ge(weight, hn::Zero(f32)), hn::Le(weight, hn::Set(f32, 1e18f))));
    wild = hn::IfThenElse(is_tame, wild, hn::Set(f32, 1.0f));
  }
  return hn::AllTrue(f32, hn::Eq(wild, hn::Zero(f32)));
}

struct LaneSearch : LaneMethod, LaneCuts {};

/// for_each_block of quantize_common.hpp, for super-blocks: encode_points<Search>(x, w, block),
/// with vectors where that is safe.
template <class Block, std::size_t block_elements, class Encoder>
HWY_INLINE void EncodeSuperBlocks(const FloatRows& rows, const Encoder&) {
  constexpr std::size_t batch = 4;
  const std::size_t row_blocks = rows.row_elements / block_elements;
  const std::size_t block_count = row_blocks * rows.row_count;
  for (std::size_t first = 0; first < block_count; first += batch) {
    const std::size_t used = HWY_MIN(batch, block_count - first);
    BlockValues x[batch] = {};
    for (std::size_t b = 0; b < used; ++b) {
      const float* src = rows.src + block_elements * (first + b);
      if (all_finite(src, block_elements)) std::memcpy(x[b].data(), src, sizeof x[b]);
    }
    float sums[batch];
    SumSquares(x, sums);
    for (std::size_t b = 0; b < used; ++b) {
      const float* importances = rows.importances == nullptr
                                     ? nullptr
                                     : rows.importances + (first + b) % row_blocks * block_elements;
      const float mean = Encoder::mean_factor * sums[b] / 256.0f;
      BlockValues w;
      FillWeights(x[b], importances, mean, Encoder::mean_share, w);
      Block block{};
      if (IsTame(x[b], w)) {
        encode_points<LaneSearch>(x[b], w, block);
      } else {
        encode_points<ScalarSearch>(x[b], w, block);
      }
      store_block(block, rows.dst, first + b);
    }
  }
}

#define INGOT_IQ_ENCODER(name, enumerator, factor, share) \
  struct Encode##name {                                   \
    static constexpr float mean_factor = factor;          \
    static constexpr float mean_share = share;            \
  };
#include "codec/encode/iq_encoders.def"
#undef INGOT_IQ_ENCODER
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#define INGOT_IQ_ENCODER(name, enumerator, factor, share) \
  INGOT_ENCODER(EncodeSuperBlocks, name, enumerator)
#include "codec/encode/iq_encoders.def"
#undef INGOT_IQ_ENCODER
