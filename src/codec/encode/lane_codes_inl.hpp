// SPDX-License-Identifier: MIT
// One block per lane: rows of tiles, codes and how they are rounded, sums over a block, and putting
// fields into the blocks. Included once per CPU target, after hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_LANE_CODES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_LANE_CODES_INL_HPP
#undef INGOT_CODEC_LANE_CODES_INL_HPP
#else
#define INGOT_CODEC_LANE_CODES_INL_HPP
#endif
// clang-format on

#include <hwy/highway.h>

#include "codec/encode/lanes_inl.hpp"
#include "codec/encode/searches.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

using LaneIntTag = hn::RebindToSigned<LaneTag>;

/// Some rows of a tile.
class LaneRows {
 public:
  LaneRows() = default;
  HWY_INLINE explicit LaneRows(const float* values) : values_(values) {}
  template <std::size_t block_elements>
  HWY_INLINE explicit LaneRows(const LaneTile<block_elements>& tile, std::size_t first = 0)
      : values_(tile.values + first * lane_count) {}

  [[nodiscard]] HWY_INLINE LaneFloats operator[](std::size_t element) const {
    return hn::Load(LaneTag(), values_ + element * lane_count);
  }

 private:
  const float* values_ = nullptr;
};

[[nodiscard]] HWY_INLINE LaneFloats Same(float value) { return hn::Set(LaneTag(), value); }

/// a != b, also with a NaN, for which hn::Ne differs between targets.
[[nodiscard]] HWY_INLINE LaneMask IsNot(LaneFloats a, LaneFloats b) {
  return hn::Not(hn::Eq(a, b));
}

/// Codes from least to greatest. A code is held as 1.5 * 2^23 + code, the result of rounding by
/// adding; consecutive codes have consecutive bits.
class LaneCodes {
 public:
  HWY_INLINE LaneCodes(int least, int greatest)
      : shift_(Same(12582912.0f)),
        low_(Same(12582912.0f + to_float(least))),
        high_(Same(12582912.0f + to_float(greatest))) {}

  /// round_even, clamped. Beyond 2^22 the exponent of the sum is another one, but only the mantissa
  /// counts.
  [[nodiscard]] HWY_INLINE LaneFloats Held(LaneFloats value) const {
    const hn::RebindToUnsigned<LaneTag> u32;
    const auto sum = hn::BitCast(u32, hn::Add(value, shift_));
    const auto bits = hn::OrAnd(hn::Set(u32, 0x4B000000u), sum, hn::Set(u32, 0x7FFFFFu));
    return hn::Min(hn::Max(hn::BitCast(LaneTag(), bits), low_), high_);
  }
  [[nodiscard]] HWY_INLINE LaneFloats Value(LaneFloats held) const { return hn::Sub(held, shift_); }
  [[nodiscard]] HWY_INLINE LaneFloats Round(LaneFloats value) const { return Value(Held(value)); }
  /// The code minus `least`.
  [[nodiscard]] HWY_INLINE LaneInts Stored(LaneFloats held) const {
    const LaneIntTag i32;
    return hn::Sub(hn::BitCast(i32, held), hn::BitCast(i32, low_));
  }

 private:
  LaneFloats shift_;
  LaneFloats low_;
  LaneFloats high_;
};

/// Integer codes in the lanes of a tile.
HWY_INLINE void SetCodes(float* rows, std::size_t element, LaneInts codes) {
  hn::Store(hn::BitCast(LaneTag(), codes), LaneTag(), rows + element * lane_count);
}
[[nodiscard]] HWY_INLINE LaneInts CodesAt(const float* rows, std::size_t element) {
  return hn::BitCast(LaneIntTag(), hn::Load(LaneTag(), rows + element * lane_count));
}

[[nodiscard]] HWY_INLINE LaneFloats SignedExtreme(LaneRows x, std::size_t count) {
  LaneFloats extreme = Same(0.0f);
  for (std::size_t i = 0; i < count; ++i) {
    const LaneFloats value = x[i];
    extreme = hn::IfThenElse(hn::Gt(hn::Abs(value), hn::Abs(extreme)), value, extreme);
  }
  return extreme;
}

[[nodiscard]] HWY_INLINE LaneFloats LargestPositive(LaneRows x, std::size_t count) {
  LaneFloats largest = Same(0.0f);
  for (std::size_t i = 0; i < count; ++i) {
    largest = hn::IfThenElse(hn::Gt(x[i], largest), x[i], largest);
  }
  return largest;
}

[[nodiscard]] HWY_INLINE LaneFloats SumOf(LaneRows x, std::size_t count) {
  LaneFloats sum = Same(0.0f);
  for (std::size_t i = 0; i < count; ++i) sum = hn::Add(sum, x[i]);
  return sum;
}

[[nodiscard]] HWY_INLINE LaneFloats SumOfSquares(LaneRows x, std::size_t count) {
  LaneFloats sum = Same(0.0f);
  for (std::size_t i = 0; i < count; ++i) sum = hn::Add(sum, hn::Mul(x[i], x[i]));
  return sum;
}

/// Leaves the weights in the rows from `w` on.
HWY_INLINE void WeighByImportance(LaneRows x, LaneRows u, LaneFloats mean_square, std::size_t count,
                                  float* w) {
  for (std::size_t i = 0; i < count; ++i) {
    const LaneFloats weight = hn::Mul(u[i], hn::Sqrt(hn::Add(mean_square, hn::Mul(x[i], x[i]))));
    hn::Store(weight, LaneTag(), w + i * lane_count);
  }
}

template <std::size_t count>
HWY_INLINE void WeighByImportance(LaneRows x, LaneRows u, LaneFloats mean_square,
                                  LaneTile<count>& w) {
  WeighByImportance(x, u, mean_square, count, w.values);
}

template <std::size_t count>
HWY_INLINE void WeighBySquare(LaneRows x, LaneTile<count>& w) {
  for (std::size_t i = 0; i < count; ++i) w.SetRow(i, hn::Mul(x[i], x[i]));
}

struct LaneSums {
  // GCC's implicit constructor lacks the target's attributes and cannot make a vector of NEON.
  HWY_INLINE LaneSums() {}
  HWY_INLINE LaneSums(LaneFloats a, LaneFloats b) : product(a), square(b) {}

  LaneFloats product;
  LaneFloats square;
};

[[nodiscard]] HWY_INLINE LaneFloats ScaleOf(const LaneSums& sums) {
  const LaneMask has_scale = hn::Gt(sums.square, Same(0.0f));
  return hn::IfThenElseZero(has_scale, hn::Div(sums.product, sums.square));
}

/// round_to_scale of searches.hpp; kept_code(i) is the code of element i where there is no scale.
template <std::size_t count, class KeptCode>
HWY_INLINE void RoundToScaleOr(LaneRows x, LaneFloats scale, LaneFloats minimum, int least,
                               int greatest, float* codes, const KeptCode& kept_code) {
  const LaneCodes limits(least, greatest);
  const LaneMask has_scale = IsNot(scale, Same(0.0f));
  const bool is_whole = hn::AllTrue(LaneTag(), has_scale);
  for (std::size_t i = 0; i < count; ++i) {
    const LaneFloats quotient = hn::Div(hn::Add(x[i], minimum), scale);
    LaneInts code = limits.Stored(limits.Held(quotient));
    if (!is_whole) {
      code = hn::IfThenElse(hn::RebindMask(LaneIntTag(), has_scale), code, kept_code(i));
    }
    SetCodes(codes, i, code);
  }
}

/// Rounds to the scale; keeps the codes in `codes` if there is no scale.
template <std::size_t count>
HWY_INLINE void RoundToScale(LaneRows x, LaneFloats scale, LaneFloats minimum, int least,
                             int greatest, float* codes) {
  const auto kept_code = [&](std::size_t i) HWY_ATTR { return CodesAt(codes, i); };
  RoundToScaleOr<count>(x, scale, minimum, least, greatest, codes, kept_code);
}

/// Puts one word, little endian, into each of lane_count blocks, `offset` bytes from its begin.
template <class Block>
HWY_INLINE void PutWords(LaneInts words, Block* blocks, std::size_t offset) {
  HWY_ALIGN std::int32_t values[lane_count];
  hn::Store(words, LaneIntTag(), values);
  auto* bytes = reinterpret_cast<std::uint8_t*>(blocks) + offset;
  for (std::size_t lane = 0; lane < lane_count; ++lane, bytes += sizeof(Block)) {
    put_u32(bytes, static_cast<std::uint32_t>(values[lane]));
  }
}

/// Puts one binary16 into each block; returns the rounded values.
template <class Block>
HWY_INLINE LaneFloats PutHalves(LaneFloats halves, Block* blocks, std::size_t offset) {
  HWY_ALIGN float values[lane_count];
  hn::Store(halves, LaneTag(), values);
  auto* bytes = reinterpret_cast<std::uint8_t*>(blocks) + offset;
  for (std::size_t lane = 0; lane < lane_count; ++lane, bytes += sizeof(Block)) {
    put_scale(bytes, values[lane]);
    values[lane] = f16_at(bytes);
  }
  return hn::Load(LaneTag(), values);
}

/// The low bytes of four words in one.
[[nodiscard]] HWY_INLINE LaneInts JoinBytes(const LaneInts* bytes) {
  return hn::Or(hn::Or(bytes[0], hn::ShiftLeft<8>(bytes[1])),
                hn::Or(hn::ShiftLeft<16>(bytes[2]), hn::ShiftLeft<24>(bytes[3])));
}

/// Bits `shift` to `shift` + 1 of 256 codes: byte 32*half + l holds those of 128*half + 32*t + l at
/// bit 2t.
template <int shift, class Block>
HWY_INLINE void PutBitPairs(const LaneTile<256>& codes, Block* blocks, std::size_t offset) {
  const auto three = hn::Set(LaneIntTag(), 3);
  for (std::size_t byte = 0; byte < 64; byte += 4) {
    LaneInts bytes[4];
    for (std::size_t i = 0; i < 4; ++i) {
      const std::size_t e = 128 * (byte / 32) + byte % 32 + i;
      const auto pair = [&](std::size_t t) HWY_ATTR {
        return hn::And(hn::ShiftRight<shift>(CodesAt(codes.values, e + 32 * t)), three);
      };
      bytes[i] = hn::Or(hn::ShiftLeft<2>(pair(3)), pair(2));
      bytes[i] = hn::Or(hn::ShiftLeft<2>(bytes[i]), pair(1));
      bytes[i] = hn::Or(hn::ShiftLeft<2>(bytes[i]), pair(0));
    }
    PutWords(JoinBytes(bytes), blocks, offset + byte);
  }
}

/// Bit `shift`, the highest, of 256 codes: byte e % 32 holds that of code e at bit e / 32.
template <int shift, class Block>
HWY_INLINE void PutHighBits(const LaneTile<256>& codes, Block* blocks, std::size_t offset) {
  for (std::size_t byte = 0; byte < 32; byte += 4) {
    LaneInts bytes[4];
    for (std::size_t i = 0; i < 4; ++i) {
      bytes[i] = hn::Zero(LaneIntTag());
      for (std::size_t e = 256 + byte + i; e >= 32;) {
        e -= 32;
        const LaneInts bit = hn::ShiftRight<shift>(CodesAt(codes.values, e));
        bytes[i] = hn::Or(hn::ShiftLeft<1>(bytes[i]), bit);
      }
    }
    PutWords(JoinBytes(bytes), blocks, offset + byte);
  }
}

/// The low four bits of `byte_count` codes and of those `distance` further, in the low and the high
/// nibbles of bytes.
template <class Block>
HWY_INLINE void PutNibbles(const float* codes, std::size_t byte_count, std::size_t distance,
                           Block* blocks, std::size_t offset) {
  const auto fifteen = hn::Set(LaneIntTag(), 15);
  for (std::size_t byte = 0; byte < byte_count; byte += 4) {
    LaneInts bytes[4];
    for (std::size_t i = 0; i < 4; ++i) {
      const LaneInts low = hn::And(CodesAt(codes, byte + i), fifteen);
      const LaneInts high = hn::And(CodesAt(codes, byte + i + distance), fifteen);
      bytes[i] = hn::Or(low, hn::ShiftLeft<4>(high));
    }
    PutWords(JoinBytes(bytes), blocks, offset + byte);
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
