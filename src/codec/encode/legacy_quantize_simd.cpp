// SPDX-License-Identifier: MIT
#define HWY_TARGET_INCLUDE "codec/encode/legacy_quantize_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/blocks/legacy.hpp"
#include "codec/encode/direct_inl.hpp"
#include "codec/encode/searches_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// Q5_0 and Q5_1 keep the fifth bit of each code apart; the others have four bits.
template <class Block>
constexpr bool has_fifth_bits = requires(Block block) {
  block.high_bits;
};
template <class Block>
constexpr int max_code = has_fifth_bits<Block> ? 31 : 15;

/// The integer parts of values in [0, max_code + 2), at most max_code, become codes: code_values(i)
/// are those of elements i and following.
template <class Block, class CodeValues>
HWY_INLINE void StoreCodes(Block& block, const CodeValues& code_values) {
  const WideIntTag i32;
  const auto largest = hn::Set(i32, max_code<Block>);
  const auto fifth_bit = hn::Set(i32, 16);
  std::uint32_t low_fifths = 0;
  std::uint32_t high_fifths = 0;
  for (std::size_t i = 0; i < 16; i += wide_lanes) {
    auto low = hn::Min(hn::ConvertTo(i32, code_values(i)), largest);
    auto high = hn::Min(hn::ConvertTo(i32, code_values(i + 16)), largest);
    if constexpr (has_fifth_bits<Block>) {
      low_fifths |= MaskBits(i32, hn::TestBit(low, fifth_bit)) << i;
      high_fifths |= MaskBits(i32, hn::TestBit(high, fifth_bit)) << i;
      low = hn::And(low, hn::Set(i32, 15));
      high = hn::And(high, hn::Set(i32, 15));
    }
    StoreBytes(i32, hn::Or(low, hn::ShiftLeft<4>(high)), &block.codes[i]);
  }
  if constexpr (has_fifth_bits<Block>) {
    // Not put_u16: byte by byte, clang makes it a slow vector. SIMD targets are little-endian.
    const auto low_word = static_cast<std::uint16_t>(low_fifths);
    const auto high_word = static_cast<std::uint16_t>(high_fifths);
    std::memcpy(&block.high_bits[0], &low_word, sizeof low_word);
    std::memcpy(&block.high_bits[2], &high_word, sizeof high_word);
  }
}

/// Q4_0 and Q5_0: the value with the largest magnitude has code 0.
template <class Block, Quantize definition>
struct EncodeSymmetric {
  static constexpr Quantize reference = definition;
  static constexpr std::size_t batch = 16;
  static constexpr float zero_code = (max_code<Block> + 1) / 2;

  HWY_INLINE bool operator()(const float* src, Block* blocks) const {
    const WideTag f32;
    HWY_ALIGN float extremes[batch];
    if (!SignedExtremes<32, batch>(src, extremes)) return false;
    BatchScales<batch> scales;
    for (std::size_t b = 0; b < batch; b += wide_lanes) {
      const auto scale = hn::Mul(hn::Load(f32, extremes + b), hn::Set(f32, -1.0f / zero_code));
      if (!scales.Set(f32, b, scale)) return false;
    }
    for (std::size_t b = 0; b < batch; ++b, src += 32) {
      put_u16(blocks[b].scale.data(), scales.half[b]);
      const auto inverse = hn::Set(f32, scales.inverse[b]);
      StoreCodes(blocks[b], [=](std::size_t i) HWY_ATTR {
        const auto scaled = hn::Mul(hn::LoadU(f32, src + i), inverse);
        return hn::Add(scaled, hn::Set(f32, zero_code + 0.5f));
      });
    }
    return true;
  }
};

/// Q4_1 and Q5_1: the smallest value has code 0, the largest the largest one.
template <class Block, Quantize definition>
struct EncodeAffine {
  static constexpr Quantize reference = definition;
  static constexpr std::size_t batch = 16;

  HWY_INLINE bool operator()(const float* src, Block* blocks) const {
    const WideTag f32;
    const hn::Rebind<std::uint16_t, WideTag> u16;
    HWY_ALIGN float minimums[batch];
    HWY_ALIGN float ranges[batch];
    HWY_ALIGN std::uint16_t half_minimums[batch];
    if (!Ranges<32, batch>(src, minimums, ranges)) return false;
    BatchScales<batch> scales;
    for (std::size_t b = 0; b < batch; b += wide_lanes) {
      const auto steps = hn::Set(f32, static_cast<float>(max_code<Block>));
      if (!scales.Set(f32, b, hn::Div(hn::Load(f32, ranges + b), steps))) return false;
      hn::Store(HalfBits(f32, hn::Load(f32, minimums + b)), u16, half_minimums + b);
    }
    for (std::size_t b = 0; b < batch; ++b, src += 32) {
      put_u16(blocks[b].scale.data(), scales.half[b]);
      put_u16(blocks[b].minimum.data(), half_minimums[b]);
      const auto minimum = hn::Set(f32, minimums[b]);
      const auto inverse = hn::Set(f32, scales.inverse[b]);
      StoreCodes(blocks[b], [=](std::size_t i) HWY_ATTR {
        const auto scaled = hn::Mul(hn::Sub(hn::LoadU(f32, src + i), minimum), inverse);
        return hn::Add(scaled, hn::Set(f32, 0.5f));
      });
    }
    return true;
  }
};

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

  /// The mean squares of the next lane_count blocks.
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
  std::size_t summed_ = 0;  // number of summed rows
  float means_[4] = {};
};

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
HWY_INLINE void EncodeBySearch(LaneRows x, LaneRows w, Block* blocks) {
  constexpr int code_count = max_code<Block> + 1;
  LaneTile<32> codes;
  if constexpr (requires(Block block) { block.minimum; }) {
    LaneFit fit;
    SearchAffine<32, 1>(x, w, affine_weighted_tries(code_count - 1), &fit, codes.values);
    PutHalves(fit.scale, blocks, offsetof(Block, scale));
    PutHalves(fit.minimum, blocks, offsetof(Block, minimum));
  } else {
    const LaneFloats scale = SearchSymmetric<32>(x, w, code_count / 2, codes.values);
    PutHalves(scale, blocks, offsetof(Block, scale));
  }
  if constexpr (has_fifth_bits<Block>) {
    PutFifthBits(codes, blocks, offsetof(Block, high_bits));
  }
  PutNibbles(codes.values, 16, 16, blocks, offsetof(Block, codes));
}

/// Encodes by searches, with importances. It is separate from the kernel, whose other half needs
/// less stack.
template <class Block>
HWY_NOINLINE void EncodeRowsBySearch(const FloatRows& rows) {
  RowMeans means(rows);
  EncodeLanes<Block, 32>(rows,
                         [&](const LaneTile<32>& x, const LaneTile<32>* u, Block* blocks) HWY_ATTR {
                           LaneTile<32> w;
                           WeighByImportance(LaneRows(x), LaneRows(*u), means.Next(), w);
                           EncodeBySearch(LaneRows(x), LaneRows(w), blocks);
                         });
}

template <class Block, std::size_t block_elements, class ByExtremes>
HWY_INLINE void EncodeLegacy(const FloatRows& rows, const ByExtremes& by_extremes) {
  if (rows.importances != nullptr) return EncodeRowsBySearch<Block>(rows);
  EncodeBatches<Block, block_elements>(rows, by_extremes);
}

using EncodeQ4_0 = EncodeSymmetric<BlockQ4_0, quantize_q4_0_ref>;
using EncodeQ4_1 = EncodeAffine<BlockQ4_1, quantize_q4_1_ref>;
using EncodeQ5_0 = EncodeSymmetric<BlockQ5_0, quantize_q5_0_ref>;
using EncodeQ5_1 = EncodeAffine<BlockQ5_1, quantize_q5_1_ref>;
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_ENCODER(EncodeLegacy, Q4_0, q4_0)
INGOT_ENCODER(EncodeLegacy, Q4_1, q4_1)
INGOT_ENCODER(EncodeLegacy, Q5_0, q5_0)
INGOT_ENCODER(EncodeLegacy, Q5_1, q5_1)
