// SPDX-License-Identifier: MIT
#define HWY_TARGET_INCLUDE "codec/decode/k_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/blocks/k.hpp"
#include "codec/decode/decoding_inl.hpp"
#include "codec/decode/unpacking_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// The scales and the minimums of the 8 groups of Q4_K and Q5_K, each twice.
struct GroupNumbers {
  Levels scales;
  Levels minimums;

  HWY_INLINE explicit GroupNumbers(const Bytes<12>& groups) {
    constexpr std::uint64_t low_halves = 0x0000000030303030;
    const std::uint64_t p = u64_at(groups.data());
    const std::uint64_t last = u32_at(&groups[8]);
    const std::uint64_t six_bits = p & 0x3F3F3F3F3F3F3F3F;
    const std::uint64_t scales_4_to_7 = (last & 0x0F0F0F0F) | (p >> 2 & low_halves);
    const std::uint64_t minimums_4_to_7 = (last >> 4 & 0x0F0F0F0F) | (p >> 34 & low_halves);
    scales = Twice((six_bits & 0xFFFFFFFF) | scales_4_to_7 << 32);
    minimums = Twice(six_bits >> 32 | minimums_4_to_7 << 32);
  }

  [[nodiscard]] static HWY_INLINE Levels Twice(std::uint64_t numbers) {
    const hn::Repartition<std::uint64_t, CodeTag> u64;
    return hn::BitCast(LevelTag(), hn::Set(u64, numbers));
  }
};

template <class Store>
HWY_INLINE void Decode(const BlockQ2_K& block, float* dst, Store store) {
  const Codes groups = LoadCodes(block.groups.data());
  const GroupFactors factors(LevelsOf(AndByte(groups, 15)), HalfAt(block.scale.data()),
                             LevelsOf(AndByte(ShiftRightMixing<4>(groups), 15)),
                             HalfAt(block.minimum.data()));
  for (std::size_t half = 0; half < 2; ++half) {
    Codes even = LoadCodes(&block.codes[32 * half]);
    Codes odd = LoadCodes(&block.codes[32 * half + 16]);
    for (std::size_t t = 0; t < 4; ++t) {
      const std::size_t group = 8 * half + 2 * t;
      const AffineCodes<2> even_values(factors.Scale(group), factors.Offset(group));
      const AffineCodes<2> odd_values(factors.Scale(group + 1), factors.Offset(group + 1));
      even_values(even, dst + 16 * group, store);
      odd_values(odd, dst + 16 * group + 16, store);
      even = ShiftRightMixing<2>(even);
      odd = ShiftRightMixing<2>(odd);
    }
  }
}

template <class Store>
HWY_INLINE void Decode(const BlockQ3_K& block, float* dst, Store store) {
  const Factors scales(GroupScales(block), HalfAt(block.scale.data()));
  const auto store_group = [&](std::size_t group, Codes low, Codes high) HWY_ATTR {
    const Codes code = hn::Or(AndByte(low, 3), AndByte(ShiftLeftMixing<2>(high), 4));
    StoreScaled(hn::Sub(LevelsOf(code), hn::Set(LevelTag(), 4)), scales[group], dst + 16 * group,
                store);
  };
  Codes even_high = LoadCodes(&block.high_bits[0]);
  Codes odd_high = LoadCodes(&block.high_bits[16]);
  for (std::size_t half = 0; half < 2; ++half) {
    Codes even = LoadCodes(&block.codes[32 * half]);
    Codes odd = LoadCodes(&block.codes[32 * half + 16]);
    for (std::size_t group = 8 * half; group < 8 * half + 8; group += 2) {
      store_group(group, even, even_high);
      store_group(group + 1, odd, odd_high);
      even = ShiftRightMixing<2>(even);
      odd = ShiftRightMixing<2>(odd);
      even_high = ShiftRightMixing<1>(even_high);
      odd_high = ShiftRightMixing<1>(odd_high);
    }
  }
}

template <class Store>
HWY_INLINE void Decode(const BlockQ4_K& block, float* dst, Store store) {
  const GroupNumbers numbers(block.groups);
  const GroupFactors factors(numbers.scales, HalfAt(block.scale.data()), numbers.minimums,
                             HalfAt(block.minimum.data()));
  for (std::size_t group = 0; group < 8; group += 2, dst += 64) {
    const AffineCodes<4> even(factors.Scale(group), factors.Offset(group));
    const AffineCodes<4> odd(factors.Scale(group + 1), factors.Offset(group + 1));
    const Codes first = LoadCodes(&block.codes[16 * group]);
    const Codes last = LoadCodes(&block.codes[16 * group + 16]);
    even(first, last, dst, store);
    odd(ShiftRightMixing<4>(first), ShiftRightMixing<4>(last), dst + 32, store);
  }
}

template <class Store>
HWY_INLINE void Decode(const BlockQ5_K& block, float* dst, Store store) {
  const GroupNumbers numbers(block.groups);
  const GroupFactors factors(numbers.scales, HalfAt(block.scale.data()), numbers.minimums,
                             HalfAt(block.minimum.data()));
  const auto code_of = [](Codes low, Codes high) HWY_ATTR {
    return LevelsOf(hn::Or(AndByte(low, 15), AndByte(high, 16)));
  };
  Codes first_high = LoadCodes(&block.high_bits[0]);
  Codes last_high = LoadCodes(&block.high_bits[16]);
  for (std::size_t group = 0; group < 8; group += 2, dst += 64) {
    const Codes first = LoadCodes(&block.codes[16 * group]);
    const Codes last = LoadCodes(&block.codes[16 * group + 16]);
    StoreAffine(code_of(first, ShiftLeftMixing<4>(first_high)),
                code_of(last, ShiftLeftMixing<4>(last_high)), factors.Scale(group),
                factors.Offset(group), dst, store);
    StoreAffine(code_of(ShiftRightMixing<4>(first), ShiftLeftMixing<3>(first_high)),
                code_of(ShiftRightMixing<4>(last), ShiftLeftMixing<3>(last_high)),
                factors.Scale(group + 1), factors.Offset(group + 1), dst + 32, store);
    first_high = ShiftRightMixing<2>(first_high);
    last_high = ShiftRightMixing<2>(last_high);
  }
}

template <class Store>
HWY_INLINE void Decode(const BlockQ6_K& block, float* dst, Store store) {
  const Factors scales(LevelsOf(LoadCodes(block.groups.data())), HalfAt(block.scale.data()));
  const auto store_group = [&](std::size_t group, Codes low_bits, Codes high_bits) HWY_ATTR {
    const Codes code = hn::Or(AndByte(low_bits, 0x0F), AndByte(high_bits, 0x30));
    StoreScaled(hn::Sub(LevelsOf(code), hn::Set(LevelTag(), 32)), scales[group], dst + 16 * group,
                store);
  };
  for (std::size_t half = 0; half < 2; ++half) {
    const std::uint8_t* codes = &block.codes[64 * half];
    const Codes row0[2] = {LoadCodes(codes), LoadCodes(codes + 16)};
    const Codes row1[2] = {LoadCodes(codes + 32), LoadCodes(codes + 48)};
    const Codes high[2] = {LoadCodes(&block.high_bits[32 * half]),
                           LoadCodes(&block.high_bits[32 * half + 16])};
    const std::size_t group = 8 * half;
    for (std::size_t i = 0; i < 2; ++i)
      store_group(group + i, row0[i], ShiftLeftMixing<4>(high[i]));
    for (std::size_t i = 0; i < 2; ++i)
      store_group(group + 2 + i, row1[i], ShiftLeftMixing<2>(high[i]));
    for (std::size_t i = 0; i < 2; ++i)
      store_group(group + 4 + i, ShiftRightMixing<4>(row0[i]), high[i]);
    for (std::size_t i = 0; i < 2; ++i)
      store_group(group + 6 + i, ShiftRightMixing<4>(row1[i]), ShiftRightMixing<2>(high[i]));
  }
}
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_DECODER(Q2_K, q2_k)
INGOT_DECODER(Q3_K, q3_k)
INGOT_DECODER(Q4_K, q4_k)
INGOT_DECODER(Q5_K, q5_k)
INGOT_DECODER(Q6_K, q6_k)
