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

#if HWY_TARGET == HWY_SCALAR
void QuantizeQ4_0Weighted(const FloatRows& rows) { quantize_q4_0_weighted_ref(rows); }
void QuantizeQ4_1Weighted(const FloatRows& rows) { quantize_q4_1_weighted_ref(rows); }
void QuantizeQ5_0Weighted(const FloatRows& rows) { quantize_q5_0_weighted_ref(rows); }
void QuantizeQ5_1Weighted(const FloatRows& rows) { quantize_q5_1_weighted_ref(rows); }
#else

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

struct SearchQ4_0 {
  HWY_INLINE void operator()(LaneRows x, LaneRows w, BlockQ4_0* blocks) const {
    LaneTile<32> codes;
    const LaneFloats scale = SearchSymmetric<32>(x, w, 8, codes.values);
    PutHalves(scale, blocks, offsetof(BlockQ4_0, scale));
    PutNibbles(codes.values, 16, 16, blocks, offsetof(BlockQ4_0, codes));
  }
};
void QuantizeQ4_0Weighted(const FloatRows& rows) { EncodeWeighted<BlockQ4_0>(rows, SearchQ4_0()); }

struct SearchQ4_1 {
  HWY_INLINE void operator()(LaneRows x, LaneRows w, BlockQ4_1* blocks) const {
    LaneTile<32> codes;
    LaneFit fit;
    SearchAffine<32, 1>(x, w, {15, -0.9f, 0.05f, 36}, &fit, codes.values);
    PutHalves(fit.scale, blocks, offsetof(BlockQ4_1, scale));
    PutHalves(fit.minimum, blocks, offsetof(BlockQ4_1, minimum));
    PutNibbles(codes.values, 16, 16, blocks, offsetof(BlockQ4_1, codes));
  }
};
void QuantizeQ4_1Weighted(const FloatRows& rows) { EncodeWeighted<BlockQ4_1>(rows, SearchQ4_1()); }

struct SearchQ5_0 {
  HWY_INLINE void operator()(LaneRows x, LaneRows w, BlockQ5_0* blocks) const {
    LaneTile<32> codes;
    const LaneFloats scale = SearchSymmetric<32>(x, w, 16, codes.values);
    PutHalves(scale, blocks, offsetof(BlockQ5_0, scale));
    PutFifthBits(codes, blocks, offsetof(BlockQ5_0, high_bits));
    PutNibbles(codes.values, 16, 16, blocks, offsetof(BlockQ5_0, codes));
  }
};
void QuantizeQ5_0Weighted(const FloatRows& rows) { EncodeWeighted<BlockQ5_0>(rows, SearchQ5_0()); }

struct SearchQ5_1 {
  HWY_INLINE void operator()(LaneRows x, LaneRows w, BlockQ5_1* blocks) const {
    LaneTile<32> codes;
    LaneFit fit;
    SearchAffine<32, 1>(x, w, {31, -0.9f, 0.05f, 36}, &fit, codes.values);
    PutHalves(fit.scale, blocks, offsetof(BlockQ5_1, scale));
    PutHalves(fit.minimum, blocks, offsetof(BlockQ5_1, minimum));
    PutFifthBits(codes, blocks, offsetof(BlockQ5_1, high_bits));
    PutNibbles(codes.values, 16, 16, blocks, offsetof(BlockQ5_1, codes));
  }
};
void QuantizeQ5_1Weighted(const FloatRows& rows) { EncodeWeighted<BlockQ5_1>(rows, SearchQ5_1()); }

#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_KERNELS(QuantizeQ4_0Weighted);
void quantize_q4_0_weighted(const FloatRows& rows) noexcept {
  kernel_of(QuantizeQ4_0WeightedKernels)(rows);
}

INGOT_KERNELS(QuantizeQ4_1Weighted);
void quantize_q4_1_weighted(const FloatRows& rows) noexcept {
  kernel_of(QuantizeQ4_1WeightedKernels)(rows);
}

INGOT_KERNELS(QuantizeQ5_0Weighted);
void quantize_q5_0_weighted(const FloatRows& rows) noexcept {
  kernel_of(QuantizeQ5_0WeightedKernels)(rows);
}

INGOT_KERNELS(QuantizeQ5_1Weighted);
void quantize_q5_1_weighted(const FloatRows& rows) noexcept {
  kernel_of(QuantizeQ5_1WeightedKernels)(rows);
}

}  // namespace ingot::codec
#endif
