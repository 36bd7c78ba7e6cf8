// SPDX-License-Identifier: MIT
#include "codec/blocks/legacy.hpp"
#include "codec/codec.hpp"
#include "codec/cpu_targets.hpp"
#include "codec/encode/legacy_weighted.hpp"

#define HWY_TARGET_INCLUDE "codec/encode/legacy_weighted_quantize_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/encode/searches_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// Whether the 32 values of a block are finite.
[[nodiscard]] HWY_INLINE bool IsFinite(const float* block) {
  const LaneTag f32;
  const LaneIntTag i32;
  LaneInts largest = hn::Zero(i32);
  for (std::size_t i = 0; i < 32; i += lane_count) {
    largest = hn::Max(largest, hn::BitCast(i32, hn::Abs(hn::LoadU(f32, block + i))));
  }
  return hn::AllFalse(i32, hn::Gt(largest, hn::Set(i32, 0x7F7FFFFF)));
}

/// The mean squares of the rows of successive blocks. Four rows are summed up at once: the sum of
/// one goes from left to right, and each addition waits for the one before.
class RowMeans {
 public:
  HWY_INLINE explicit RowMeans(const FloatRows& rows)
      : rows_(rows), row_blocks_(rows.row_elements / 32) {}

  /// For the next lane_count blocks.
  HWY_INLINE LaneFloats Next() {
    HWY_ALIGN float means[lane_count];
    for (std::size_t lane = 0; lane < lane_count; ++lane, ++block_) {
      const std::size_t row = block_ / row_blocks_;
      if (row < rows_.row_count && row == summed_) SumRows();
      means[lane] = means_[row % 4];
    }
    return hn::Load(LaneTag(), means);
  }

 private:
  /// The next four rows; beyond the last one, that again.
  HWY_INLINE void SumRows() {
    const float* rows[4];
    for (std::size_t j = 0; j < 4; ++j) {
      const std::size_t row = HWY_MIN(summed_ + j, rows_.row_count - 1);
      rows[j] = rows_.src + row * rows_.row_elements;
    }
    float sums[4] = {};
    for (std::size_t first = 0; first < rows_.row_elements; first += 32) {
      static constexpr float zeros[32] = {};
      const float* blocks[4];
      for (std::size_t j = 0; j < 4; ++j) {
        blocks[j] = IsFinite(rows[j] + first) ? rows[j] + first : zeros;
      }
      for (std::size_t i = 0; i < 32; ++i) {
        for (std::size_t j = 0; j < 4; ++j) sums[j] += blocks[j][i] * blocks[j][i];
      }
    }
    for (std::size_t j = 0; j < 4; ++j) {
      means_[j] = sums[j] / static_cast<float>(rows_.row_elements);
    }
    summed_ += 4;
  }

  const FloatRows& rows_;
  std::size_t row_blocks_;
  std::size_t block_ = 0;
  std::size_t summed_ = 0;  // rows
  float means_[4] = {};
};

/// encode(x, w, blocks) for the values and the weights of lane_count blocks.
template <class Block, class Encode>
HWY_INLINE void EncodeWeighted(const FloatRows& rows, const Encode& encode) {
  RowMeans means(rows);
  EncodeLanes<Block, 32>(rows,
                         [&](const LaneTile<32>& x, const LaneTile<32>* u, Block* blocks) HWY_ATTR {
                           LaneTile<32> w;
                           WeighByImportance(LaneRows(x), LaneRows(*u), means.Next(), w);
                           encode(LaneRows(x), LaneRows(w), blocks);
                         });
}

/// Bit 4 of the codes, each at the bit of its number.
template <class Block>
HWY_INLINE void PutFifthBits(const LaneTile<32>& codes, Block* blocks, std::size_t offset) {
  const LaneIntTag i32;
  LaneInts bits = hn::Zero(i32);
  for (std::size_t i = 0; i < 32; ++i) {
    const LaneInts bit = hn::And(hn::ShiftRight<4>(CodesAt(codes.values, i)), hn::Set(i32, 1));
    bits = hn::Or(bits, hn::ShiftLeftSame(bit, static_cast<int>(i)));
  }
  PutWords(bits, blocks, offset);
}

template <class Block>
struct Search {
  static constexpr bool has_minimum = requires(Block block) { block.minimum; };
  static constexpr bool has_fifth_bits = requires(Block block) { block.high_bits; };

  HWY_INLINE void operator()(LaneRows x, LaneRows w, Block* blocks) const {
    constexpr int code_count = has_fifth_bits ? 32 : 16;
    LaneTile<32> codes;
    if constexpr (has_minimum) {
      LaneFit fit;
      SearchAffine<32, 1>(x, w, {code_count - 1, -0.9f, 0.05f, 36}, &fit, codes.values);
      PutHalves(fit.scale, blocks, offsetof(Block, scale));
      PutHalves(fit.minimum, blocks, offsetof(Block, minimum));
    } else {
      const LaneFloats scale = SearchSymmetric<32>(x, w, code_count / 2, codes.values);
      PutHalves(scale, blocks, offsetof(Block, scale));
    }
    if constexpr (has_fifth_bits) PutFifthBits(codes, blocks, offsetof(Block, high_bits));
    PutNibbles(codes.values, 16, 16, blocks, offsetof(Block, codes));
  }
};
#endif

#undef INGOT_WEIGHTED_ENCODER
#if HWY_TARGET == HWY_SCALAR
#define INGOT_WEIGHTED_ENCODER(name, enumerator)         \
  void Quantize##name##Weighted(const FloatRows& rows) { \
    quantize_##enumerator##_weighted_ref(rows);          \
  }
#else
#define INGOT_WEIGHTED_ENCODER(name, enumerator)              \
  void Quantize##name##Weighted(const FloatRows& rows) {      \
    EncodeWeighted<Block##name>(rows, Search<Block##name>()); \
  }
#endif

INGOT_WEIGHTED_ENCODER(Q4_0, q4_0)
INGOT_WEIGHTED_ENCODER(Q4_1, q4_1)
INGOT_WEIGHTED_ENCODER(Q5_0, q5_0)
INGOT_WEIGHTED_ENCODER(Q5_1, q5_1)

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_EXPORT_ENCODER(Q4_0Weighted, q4_0_weighted)
INGOT_EXPORT_ENCODER(Q4_1Weighted, q4_1_weighted)
INGOT_EXPORT_ENCODER(Q5_0Weighted, q5_0_weighted)
INGOT_EXPORT_ENCODER(Q5_1Weighted, q5_1_weighted)
