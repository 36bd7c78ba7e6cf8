// SPDX-License-Identifier: MIT
// What the kernels of the lattice types do to whole super-blocks. Included once per CPU target,
// after hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_SUPERBLOCKS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_SUPERBLOCKS_INL_HPP
#undef INGOT_CODEC_SUPERBLOCKS_INL_HPP
#else
#define INGOT_CODEC_SUPERBLOCKS_INL_HPP
#endif
// clang-format on

#include <hwy/highway.h>

#include "codec/encode/lattice_search.hpp"
#include "codec/encode/snap_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// Importances from weights and the mean square of a block; without weights, from the square of
/// each value and `square_part` of the mean.
HWY_INLINE void FillImportances(const BlockValues& x, const float* weights, float mean,
                                float square_part, BlockValues& w) {
  const SnapTag f32;
  for (std::size_t i = 0; i < 256; i += snap_lanes) {
    const auto value = hn::LoadU(f32, x.data() + i);
    const auto square = hn::Mul(value, value);
    if (weights != nullptr) {
      const auto root = hn::Sqrt(hn::Add(hn::Set(f32, mean), square));
      hn::StoreU(hn::Mul(hn::LoadU(f32, weights + i), root), f32, w.data() + i);
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

/// for_each_block of quantize_common.hpp, for super-blocks: encode(x, mean_square(x, factor),
/// weights, block).
template <class Block, class Encode>
HWY_INLINE void EncodeBlocks(const FloatRows& rows, float factor, const Encode& encode) {
  constexpr std::size_t batch = 4;
  const std::size_t row_blocks = rows.row_elements / 256;
  const std::size_t block_count = row_blocks * rows.row_count;
  for (std::size_t first = 0; first < block_count; first += batch) {
    const std::size_t used = HWY_MIN(batch, block_count - first);
    BlockValues x[batch] = {};
    for (std::size_t b = 0; b < used; ++b) {
      const float* src = rows.src + 256 * (first + b);
      if (all_finite(src, 256)) std::memcpy(x[b].data(), src, sizeof x[b]);
    }
    float sums[batch];
    SumSquares(x, sums);
    for (std::size_t b = 0; b < used; ++b) {
      const float* weights =
          rows.weights == nullptr ? nullptr : rows.weights + (first + b) % row_blocks * 256;
      Block block{};
      encode(x[b], factor * sums[b] / 256.0f, weights, block);
      store_block(block, rows.dst, first + b);
    }
  }
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

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
