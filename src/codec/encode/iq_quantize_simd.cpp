// SPDX-License-Identifier: MIT
#define HWY_TARGET_INCLUDE "codec/encode/iq_quantize_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/encode/encoding_inl.hpp"
#include "codec/encode/iq1_cuts_inl.hpp"
#include "codec/encode/iq1_encode.hpp"
#include "codec/encode/iq2_encode.hpp"
#include "codec/encode/iq3_encode.hpp"
#include "codec/encode/lattice_search_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// How much an error in each value matters: by the importances and the mean square of a block;
/// without importances, by the square of the value and `square_part` of the mean.
HWY_INLINE void FillWeights(const BlockValues& x, const float* importances, float mean,
                            float square_part, BlockValues& w) {
  const SnapTag f32;
  for (std::size_t i = 0; i < 256; i += snap_lanes) {
    const auto value = hn::LoadU(f32, x.data() + i);
    const auto square = hn::Mul(value, value);
    if (importances != nullptr) {
      const auto root = hn::Sqrt(hn::Add(hn::Set(f32, mean), square));
      hn::StoreU(hn::Mul(hn::LoadU(f32, importances + i), root), f32, w.data() + i);
    } else {
      hn::StoreU(hn::Add(hn::Set(f32, square_part == 0.0f ? 0.0f : square_part * mean), square),
                 f32, w.data() + i);
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

/// for_each_block of quantize_common.hpp, for super-blocks: Encoder::encode<Method>(x, w, block),
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
      FillWeights(x[b], importances, mean, Encoder::square_part, w);
      Block block{};
      if (IsTame(x[b], w)) {
        Encoder::template encode<typename Encoder::Vectors>(x[b], w, block);
      } else {
        Encoder::template encode<typename Encoder::Scalar>(x[b], w, block);
      }
      store_block(block, rows.dst, first + b);
    }
  }
}

/// Common to the encoders of a family: two implementations of the search, and the part of the mean
/// square of a block in the weights.
struct EncodeIQ1 {
  using Vectors = LaneCuts;
  using Scalar = ScalarCuts;
  static constexpr float square_part = 0.0f;
};
struct EncodeIQ2 {
  using Vectors = LaneMethod;
  using Scalar = ScalarMethod;
  static constexpr float square_part = 0.25f;
};
struct EncodeIQ3 {
  using Vectors = LaneMethod;
  using Scalar = ScalarMethod;
  static constexpr float square_part = 0.0f;
};

/// The encoder of a type: encode_<enumerator> by either implementation of the search.
#undef INGOT_IQ_ENCODER
#define INGOT_IQ_ENCODER(Family, name, enumerator, factor)                    \
  struct Encode##name : Family {                                              \
    static constexpr float mean_factor = factor;                              \
    template <class Method>                                                   \
    static HWY_INLINE void encode(const BlockValues& x, const BlockValues& w, \
                                  Block##name& block) {                       \
      encode_##enumerator<Method>(x, w, block);                               \
    }                                                                         \
  };
INGOT_IQ_ENCODER(EncodeIQ1, IQ1_S, iq1_s, 2.0f)
INGOT_IQ_ENCODER(EncodeIQ1, IQ1_M, iq1_m, 2.0f)
INGOT_IQ_ENCODER(EncodeIQ2, IQ2_XXS, iq2_xxs, 1.0f)
INGOT_IQ_ENCODER(EncodeIQ2, IQ2_XS, iq2_xs, 1.0f)
INGOT_IQ_ENCODER(EncodeIQ2, IQ2_S, iq2_s, 2.0f)
INGOT_IQ_ENCODER(EncodeIQ3, IQ3_XXS, iq3_xxs, 2.0f)
INGOT_IQ_ENCODER(EncodeIQ3, IQ3_S, iq3_s, 2.0f)
#endif

INGOT_ENCODER(EncodeSuperBlocks, IQ1_S, iq1_s)
INGOT_ENCODER(EncodeSuperBlocks, IQ1_M, iq1_m)
INGOT_ENCODER(EncodeSuperBlocks, IQ2_XXS, iq2_xxs)
INGOT_ENCODER(EncodeSuperBlocks, IQ2_XS, iq2_xs)
INGOT_ENCODER(EncodeSuperBlocks, IQ2_S, iq2_s)
INGOT_ENCODER(EncodeSuperBlocks, IQ3_XXS, iq3_xxs)
INGOT_ENCODER(EncodeSuperBlocks, IQ3_S, iq3_s)

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_EXPORT_ENCODER(IQ1_S, iq1_s)
INGOT_EXPORT_ENCODER(IQ1_M, iq1_m)
INGOT_EXPORT_ENCODER(IQ2_XXS, iq2_xxs)
INGOT_EXPORT_ENCODER(IQ2_XS, iq2_xs)
INGOT_EXPORT_ENCODER(IQ2_S, iq2_s)
INGOT_EXPORT_ENCODER(IQ3_XXS, iq3_xxs)
INGOT_EXPORT_ENCODER(IQ3_S, iq3_s)
