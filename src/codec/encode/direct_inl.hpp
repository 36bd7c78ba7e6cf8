// SPDX-License-Identifier: MIT
// The common parts of the direct quantizers: those whose scales follow from the extremes of a
// block, without a search. The extremes of a batch of blocks become vectors, so that the scales of
// many blocks are divided and rounded at once. Included once per CPU target, after hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_DIRECT_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_DIRECT_INL_HPP
#undef INGOT_CODEC_DIRECT_INL_HPP
#else
#define INGOT_CODEC_DIRECT_INL_HPP
#endif
// clang-format on

#include <hwy/highway.h>

#include <cmath>
#include <limits>

#include "codec/blocks/block.hpp"
#include "codec/codec.hpp"
#include "codec/encode/encoding_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// Half a block of 32 is a multiple of every target's lane count.
using WideTag = hn::CappedTag<float, 16>;
using WideIntTag = hn::RebindToSigned<WideTag>;
using WideFloats = hn::Vec<WideTag>;
using WideInts = hn::Vec<WideIntTag>;
inline constexpr std::size_t wide_lanes = hn::MaxLanes(WideTag());

/// The bits of the smallest magnitude that is not finite.
inline constexpr std::int32_t infinity_bits = 0x7F800000;

/// Encodes all blocks of the rows in batches of EncodeBatch::batch. encode_batch(src, blocks)
/// returns false if the batch has a value that is not finite or a vanishing scale; the reference
/// then encodes it, and also the rest after the last whole batch. Only for types whose blocks
/// are independent of their row.
template <class Block, std::size_t block_elements, class EncodeBatch>
HWY_INLINE void EncodeBatches(const FloatRows& rows, const EncodeBatch& encode_batch) {
  constexpr std::size_t batch = EncodeBatch::batch;
  const std::size_t block_count = rows.row_elements / block_elements * rows.row_count;
  for (std::size_t first = 0; first < block_count; first += batch) {
    const std::size_t used = HWY_MIN(batch, block_count - first);
    const float* src = rows.src + first * block_elements;
    std::byte* dst = rows.dst + first * sizeof(Block);
    // Blocks are bytes without alignment, so they may be written where they belong.
    if (used == batch && encode_batch(src, reinterpret_cast<Block*>(dst))) continue;
    EncodeBatch::reference(
        {.src = src, .dst = dst, .row_elements = used * block_elements, .row_count = 1});
  }
}

struct MinOf {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Min(a, b);
  }
};
struct MaxOf {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Max(a, b);
  }
};
struct PlusOf {
  template <class V>
  HWY_INLINE V operator()(V a, V b) const {
    return hn::Add(a, b);
  }
};

/// The bits of floats: as signed numbers, and as unsigned ones; and the bits of their magnitudes.
struct SignedBits {
  HWY_INLINE auto operator()(WideFloats x) const { return hn::BitCast(WideIntTag(), x); }
};
struct UnsignedBits {
  HWY_INLINE auto operator()(WideFloats x) const {
    return hn::BitCast(hn::RebindToUnsigned<WideTag>(), x);
  }
};
struct MagnitudeBits {
  HWY_INLINE auto operator()(WideFloats x) const { return hn::BitCast(WideIntTag(), hn::Abs(x)); }
};

/// Reduces a vector's lanes to four.
template <class D, class Op>
HWY_INLINE auto FoldToQuad(D, hn::Vec<D> v, Op op) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return FoldToQuad(half, op(hn::LowerHalf(half, v), hn::UpperHalf(half, v)), op);
  }
}

/// Lane i of the result combines the four lanes of argument i.
template <class D, class V, class Op>
HWY_INLINE V FoldQuads(D quad, V a, V b, V c, V d, Op op) {
  const V ab = op(hn::InterleaveLower(quad, a, b), hn::InterleaveUpper(quad, a, b));
  const V cd = op(hn::InterleaveLower(quad, c, d), hn::InterleaveUpper(quad, c, d));
  return op(hn::ConcatLowerLower(quad, cd, ab), hn::ConcatUpperUpper(quad, cd, ab));
}

/// Combines map(x) of `elements` values into four lanes.
template <std::size_t elements, class Map, class Op>
HWY_INLINE auto FoldValues(const float* src, Map map, Op op) {
  const WideTag f32;
  auto folded = map(hn::LoadU(f32, src));
  for (std::size_t i = wide_lanes; i < elements; i += wide_lanes) {
    folded = op(folded, map(hn::LoadU(f32, src + i)));
  }
  return FoldToQuad(hn::DFromV<decltype(folded)>(), folded, op);
}

/// dst[g] combines map(x) of the `elements` values of group g, in any order.
template <std::size_t elements, std::size_t groups, class T, class Map, class Op>
HWY_INLINE void FoldGroups(const float* src, T* dst, Map map, Op op) {
  const hn::CappedTag<T, 4> quad;
  for (std::size_t g = 0; g < groups; g += 4, src += 4 * elements) {
    hn::Store(FoldQuads(quad, FoldValues<elements>(src, map, op),
                        FoldValues<elements>(src + elements, map, op),
                        FoldValues<elements>(src + 2 * elements, map, op),
                        FoldValues<elements>(src + 3 * elements, map, op), op),
              quad, dst + g);
  }
}

/// Vectors over the groups of a batch.
template <std::size_t groups>
using GroupTag = hn::CappedTag<float, (groups < 16 ? groups : 16)>;

/// The largest magnitude of each group; false if one is not finite.
template <std::size_t elements, std::size_t groups>
HWY_INLINE bool LargestMagnitudes(const float* src, float* largest) {
  const GroupTag<groups> f32;
  const hn::RebindToSigned<decltype(f32)> i32;
  HWY_ALIGN std::int32_t bits[groups];
  FoldGroups<elements, groups>(src, bits, MagnitudeBits(), MaxOf());
  auto worst = hn::Zero(i32);
  for (std::size_t g = 0; g < groups; g += hn::Lanes(f32)) {
    const auto magnitude = hn::Load(i32, bits + g);
    worst = hn::Max(worst, magnitude);
    hn::Store(hn::BitCast(f32, magnitude), f32, largest + g);
  }
  return hn::AllTrue(i32, hn::Lt(worst, hn::Set(i32, infinity_bits)));
}

/// signed_extreme of a group that has values of both signs and this magnitude.
HWY_INLINE float FirstOfMagnitude(const float* x, float magnitude) {
  while (std::fabs(*x) != magnitude) ++x;
  return *x;
}

/// The signed extreme of each group (+0 for zeros, the first one wins a tie); false if one is not
/// finite.
template <std::size_t elements, std::size_t groups>
HWY_INLINE bool SignedExtremes(const float* src, float* extremes) {
  const GroupTag<groups> f32;
  const hn::RebindToSigned<decltype(f32)> i32;
  const hn::RebindToUnsigned<decltype(f32)> u32;
  HWY_ALIGN std::int32_t positive[groups];   // the largest positive value, if any
  HWY_ALIGN std::uint32_t negative[groups];  // the negative value of the largest magnitude
  FoldGroups<elements, groups>(src, positive, SignedBits(), MaxOf());
  FoldGroups<elements, groups>(src, negative, UnsignedBits(), MaxOf());
  auto worst = hn::Zero(i32);
  for (std::size_t g = 0; g < groups; g += hn::Lanes(f32)) {
    const auto p = hn::Load(i32, positive + g);
    const auto n = hn::BitCast(i32, hn::Load(u32, negative + g));
    const auto p_magnitude = hn::And(p, hn::Set(i32, 0x7FFFFFFF));
    const auto n_magnitude = hn::And(n, hn::Set(i32, 0x7FFFFFFF));
    const auto magnitude = hn::Max(p_magnitude, n_magnitude);
    worst = hn::Max(worst, magnitude);
    const auto is_zero = hn::Eq(magnitude, hn::Zero(i32));
    const auto extreme = hn::IfThenElse(hn::Gt(n_magnitude, p_magnitude), n, p);
    hn::Store(hn::BitCast(f32, hn::IfThenZeroElse(is_zero, extreme)), f32, extremes + g);
    // Equal magnitudes of different bits; among zeros there is nothing to choose.
    const auto ties = hn::And(hn::IfThenElseZero(hn::Eq(p_magnitude, n_magnitude), hn::Xor(p, n)),
                              hn::Set(i32, std::numeric_limits<std::int32_t>::min()));
    const auto is_tie = hn::AndNot(is_zero, hn::Ne(ties, hn::Zero(i32)));
    if (hn::AllFalse(i32, is_tie)) continue;
    for (std::size_t lane = g; lane < g + hn::Lanes(f32); ++lane) {
      // With or without a tie it is the first of its magnitude. (An infinity is found and refused
      // below; a NaN is not found, as it equals no value.)
      const float value = extremes[lane];
      if (std::fabs(value) > 0.0f && value == value) {
        extremes[lane] = FirstOfMagnitude(src + lane * elements, std::fabs(value));
      }
    }
  }
  return hn::AllTrue(i32, hn::Lt(worst, hn::Set(i32, infinity_bits)));
}

/// The first of the smallest values and the range of each group; false if a value is not finite.
template <std::size_t elements, std::size_t groups>
HWY_INLINE bool Ranges(const float* src, float* smallest, float* ranges) {
  const GroupTag<groups> f32;
  const hn::RebindToSigned<decltype(f32)> i32;
  const hn::RebindToUnsigned<decltype(f32)> u32;
  HWY_ALIGN std::int32_t positive[groups];   // the largest positive value, if there is one
  HWY_ALIGN std::uint32_t negative[groups];  // the smallest negative value, if there is one
  HWY_ALIGN std::int32_t nearest[groups];    // the smallest magnitude, if all values have one sign
  FoldGroups<elements, groups>(src, positive, SignedBits(), MaxOf());
  FoldGroups<elements, groups>(src, negative, UnsignedBits(), MaxOf());
  FoldGroups<elements, groups>(src, nearest, SignedBits(), MinOf());
  auto worst = hn::Zero(i32);
  for (std::size_t g = 0; g < groups; g += hn::Lanes(f32)) {
    const auto p = hn::Load(i32, positive + g);
    const auto n = hn::BitCast(i32, hn::Load(u32, negative + g));
    const auto one_sign = hn::Load(i32, nearest + g);
    worst = hn::Max(worst, hn::And(hn::Max(p, hn::Zero(i32)), hn::Set(i32, 0x7FFFFFFF)));
    worst = hn::Max(worst, hn::And(n, hn::Set(i32, 0x7FFFFFFF)));
    const auto no_positive = hn::Lt(p, hn::Zero(i32));
    const auto some_negative = hn::Lt(n, hn::Zero(i32));
    const auto high = hn::BitCast(f32, hn::IfThenElse(no_positive, one_sign, p));
    const auto low = hn::BitCast(f32, hn::IfThenElse(some_negative, n, one_sign));
    hn::Store(low, f32, smallest + g);
    // The difference of zeros of both signs may be -0.
    hn::Store(hn::Abs(hn::Sub(high, low)), f32, ranges + g);
    if (hn::AllFalse(f32, hn::Eq(low, hn::Zero(f32)))) continue;
    for (std::size_t lane = g; lane < g + hn::Lanes(f32); ++lane) {
      if (smallest[lane] == 0.0f) {
        smallest[lane] = FirstOfMagnitude(src + lane * elements, 0.0f);
      }
    }
  }
  return hn::AllTrue(i32, hn::Lt(worst, hn::Set(i32, infinity_bits)));
}

/// Rounds to binary16 with ties to even, as f16_from_f32.
template <class D>
HWY_INLINE auto HalfBits(D f32, hn::Vec<D> value) {
  const hn::Rebind<std::uint16_t, D> u16;
  const hn::RebindToSigned<D> i32;
  const hn::RebindToUnsigned<D> u32;
  const auto bits = hn::BitCast(i32, value);
  const auto magnitude = hn::And(bits, hn::Set(i32, 0x7FFFFFFF));
  const auto is_nan = hn::Gt(magnitude, hn::Set(i32, infinity_bits));
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  // The CPU keeps a NaN's payload, so it gets one without.
  const hn::Rebind<hwy::float16_t, D> f16;
  const auto quiet = hn::OrAnd(hn::Set(i32, 0x7FC00000), bits, hn::Set(i32, 1 << 31));
  const auto clean = hn::BitCast(f32, hn::IfThenElse(is_nan, quiet, bits));
  static_cast<void>(u32);
  return hn::BitCast(u16, hn::DemoteTo(f16, clean));
#else
  const auto sign = hn::BitCast(i32, hn::ShiftLeft<15>(hn::ShiftRight<31>(hn::BitCast(u32, bits))));
  // Normal: round at bit 13; a carry into the exponent is right, also into that of infinity.
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(i32, 1));
  const auto rounded = hn::Add(hn::Add(magnitude, hn::Set(i32, 0xFFF - 0x38000000)), odd);
  auto half = hn::Min(hn::ShiftRight<13>(rounded), hn::Set(i32, 0x7C00));
  // Below 2^-14: the unit in the last place of 0.5 is 2^-24, that of a subnormal.
  const auto sum = hn::Add(hn::BitCast(f32, magnitude), hn::Set(f32, 0.5f));
  const auto subnormal = hn::Sub(hn::BitCast(i32, sum), hn::Set(i32, 0x3F000000));
  half = hn::IfThenElse(hn::Lt(magnitude, hn::Set(i32, 0x38800000)), subnormal, half);
  half = hn::IfThenElse(is_nan, hn::Set(i32, 0x7E00), half);
  return hn::DemoteTo(u16, hn::Or(half, sign));
#endif
}

/// Scales of a batch as they are stored, and 1 / scale, which is 0 for a scale of 0.
template <std::size_t groups>
struct BatchScales {
  HWY_ALIGN float inverse[groups];
  HWY_ALIGN std::uint16_t half[groups];

  /// False if a scale or its inverse is infinite.
  template <class D>
  HWY_INLINE bool Set(D f32, std::size_t first, hn::Vec<D> scale) {
    const hn::Rebind<std::uint16_t, D> u16;
    const auto is_zero = hn::Eq(scale, hn::Zero(f32));
    const auto quotient = hn::IfThenZeroElse(is_zero, hn::Div(hn::Set(f32, 1.0f), scale));
    hn::Store(quotient, f32, inverse + first);
    hn::Store(HalfBits(f32, scale), u16, half + first);
    const auto limit = hn::Set(f32, std::numeric_limits<float>::max());
    return hn::AllTrue(f32,
                       hn::And(hn::Le(hn::Abs(quotient), limit), hn::Le(hn::Abs(scale), limit)));
  }
};

/// Rounds magnitudes below 2^22 to the nearest integer, ties away from zero, by adding the largest
/// float below a half and cutting off. The rounded sum is monotonic in v; it reaches k + 1 for v =
/// k + 1/2 (the missing 2^-25 is at most half a unit in the last place, and the tie at 1/2 goes to
/// the even 1), but not for the float before.
HWY_INLINE WideInts RoundAway(WideFloats v) {
  const WideTag f32;
  const auto almost_half = hn::CopySignToAbs(hn::Set(f32, 0x0.FFFFFFp-1f), v);
  return hn::ConvertTo(WideIntTag(), hn::Add(v, almost_half));
}

/// Stores values 0..255 as bytes.
template <class D>
HWY_INLINE void StoreBytes(D, hn::Vec<D> values, std::uint8_t* dst) {
  const hn::RebindToUnsigned<D> u32;
  const hn::Rebind<std::uint8_t, D> u8;
  hn::StoreU(hn::U8FromU32(hn::BitCast(u32, values)), u8, dst);
}

/// Bit i is lane i of the mask; at most 16 lanes.
template <class D>
HWY_INLINE std::uint32_t MaskBits(D d, hn::Mask<D> mask) {
  std::uint8_t bytes[8];
  hn::StoreMaskBits(d, mask, bytes);
  if constexpr (hn::MaxLanes(D()) <= 8) return bytes[0];
  // SIMD targets are little-endian.
  std::uint16_t pair;
  std::memcpy(&pair, bytes, sizeof pair);
  return pair;
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
