// SPDX-License-Identifier: MIT
// The common parts of all decoding kernels. Included once per CPU target, after hwy/highway.h.
//
// Kernels work on 16 weights at a time: their codes are the bytes of one 128-bit vector, their
// floats 1, 2 or 4 vectors. The product (or product and sum) of a weight is computed exactly as in
// the reference: for the weight, or once for each of the 16 codes that a weight may have.

// clang-format off
#if defined(INGOT_CODEC_DECODING_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_DECODING_INL_HPP
#undef INGOT_CODEC_DECODING_INL_HPP
#else
#define INGOT_CODEC_DECODING_INL_HPP
#endif
// clang-format on

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <array>

#include "codec/blocks/block.hpp"
#include "codec/codec.hpp"
#include "codec/kernel_inl.hpp"

/// Defines dequantize_<enumerator> with a body for each CPU target. Outside of all namespaces.
#undef INGOT_DECODER_BY
#define INGOT_DECODER_BY(name, enumerator, ...)                                            \
  INGOT_KERNEL(Dequantize##name, dequantize_##enumerator,                                  \
               (const std::byte* src, float* dst, std::size_t block_count, Stores stores), \
               (src, dst, block_count, stores), __VA_ARGS__)

/// Defines dequantize_<enumerator> by Decode(block, dst, store), which is called for each
/// Block<name>; without vectors the reference decodes.
#undef INGOT_DECODER
#if HWY_TARGET == HWY_SCALAR
#define INGOT_DECODER(name, enumerator)                                                    \
  INGOT_DECODER_BY(name, enumerator, dequantize_##enumerator##_ref(src, dst, block_count), \
                   static_cast<void>(stores))
#else
#define INGOT_DECODER(name, enumerator)                                                  \
  INGOT_DECODER_BY(name, enumerator,                                                     \
                   DecodeBlocks<Block##name, block_elements_of(TensorType::enumerator)>( \
                       src, dst, block_count, stores))
#endif

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

using FloatTag = hn::CappedTag<float, 16>;
using IntTag = hn::RebindToSigned<FloatTag>;
using CodeTag = hn::CappedTag<std::uint8_t, 16>;
using LevelTag = hn::CappedTag<std::int8_t, 16>;
using WordTag = hn::CappedTag<std::int16_t, 16>;

using Floats = hn::Vec<FloatTag>;
using Codes = hn::Vec<CodeTag>;    ///< 16 unsigned bytes.
using Levels = hn::Vec<LevelTag>;  ///< 16 signed bytes.
using Words = hn::Vec<WordTag>;    ///< 16 or 8 levels, widened.

/// Floats of one vector: 16, 8 or 4.
inline constexpr std::size_t float_lanes = HWY_MIN(HWY_LANES(float), 16);
inline constexpr std::size_t word_lanes = HWY_MIN(HWY_LANES(std::int16_t), 16);

// --- binary16 ----------------------------------------------------------------------------------

using HalfTag = hn::Rebind<hwy::float16_t, FloatTag>;
using HalfBitsTag = hn::RebindToUnsigned<HalfTag>;

/// binary16 to binary32, exact, as f32_from_f16.
HWY_INLINE Floats FloatsFromHalves(hn::Vec<HalfBitsTag> halves) {
#if HWY_TARGET <= HWY_AVX2
  return hn::PromoteTo(FloatTag(), hn::BitCast(HalfTag(), halves));
#else
  // Highway's own conversion handles neither infinity nor NaN where the CPU has no instruction.
  const FloatTag f32;
  const hn::RebindToUnsigned<FloatTag> u32;
  const auto bits = hn::PromoteTo(u32, halves);
  const auto magnitude = hn::And(bits, hn::Set(u32, 0x7FFF));
  const auto mantissa = hn::And(bits, hn::Set(u32, 0x03FF));
  const auto normal = hn::Add(hn::ShiftLeft<13>(magnitude), hn::Set(u32, 112u << 23));
  const auto subnormal = hn::BitCast(
      u32, hn::Mul(hn::ConvertTo(f32, hn::BitCast(IntTag(), mantissa)), hn::Set(f32, 0x1p-24f)));
  const auto special = hn::Or(normal, hn::Set(u32, 0x7F800000));
  const auto quiet = hn::IfThenElseZero(hn::Ne(mantissa, hn::Zero(u32)), hn::Set(u32, 0x400000));
  auto result = hn::IfThenElse(hn::Lt(magnitude, hn::Set(u32, 0x0400)), subnormal, normal);
  result = hn::IfThenElse(hn::Gt(magnitude, hn::Set(u32, 0x7BFF)), hn::Or(special, quiet), result);
  const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(u32, 0x8000)));
  return hn::BitCast(f32, hn::Or(result, sign));
#endif
}

/// The binary16 at `bytes`.
HWY_INLINE float OneHalfAt(const std::uint8_t* bytes) {
#if HWY_TARGET <= HWY_AVX2
  const hn::CappedTag<float, 4> f32;
  const hn::Rebind<hwy::float16_t, decltype(f32)> f16;
  const hn::RebindToUnsigned<decltype(f16)> u16;
  return hn::GetLane(hn::PromoteTo(f32, hn::BitCast(f16, hn::Set(u16, u16_at(bytes)))));
#else
  return f16_at(bytes);
#endif
}

/// The binary16 at `bytes`, in every lane.
HWY_INLINE Floats HalfAt(const std::uint8_t* bytes) {
#if HWY_TARGET <= HWY_AVX3
  // Converting short vectors and filling long ones takes fewer units than the other way round.
  return hn::Set(FloatTag(), OneHalfAt(bytes));
#elif HWY_TARGET <= HWY_AVX2
  return FloatsFromHalves(hn::Set(HalfBitsTag(), u16_at(bytes)));
#else
  const std::uint32_t bits = u16_at(bytes);
  const std::uint32_t exponent = bits & 0x7C00;
  if (exponent == 0 || exponent == 0x7C00) return hn::Set(FloatTag(), f16_at(bytes));
  const std::uint32_t widened = (bits & 0x8000) << 16 | (((bits & 0x7FFF) << 13) + (112u << 23));
  return hn::Set(FloatTag(), std::bit_cast<float>(widened));
#endif
}

// --- storing -----------------------------------------------------------------------------------

struct CachedStore {
  HWY_INLINE void operator()(Floats value, float* to) const { hn::StoreU(value, FloatTag(), to); }
};

struct StreamedStore {
  HWY_INLINE void operator()(Floats value, float* to) const { hn::Stream(value, FloatTag(), to); }
};

// --- codes and levels --------------------------------------------------------------------------

HWY_INLINE Codes LoadCodes(const std::uint8_t* bytes) { return hn::LoadU(CodeTag(), bytes); }

/// Joins two times 8 bytes, `low` first.
HWY_INLINE Codes CodesOf(std::uint64_t low, std::uint64_t high) {
  const hn::CappedTag<std::uint64_t, 2> pair;
  const hn::Half<decltype(pair)> one;
  return hn::BitCast(CodeTag(), hn::Combine(pair, hn::Set(one, high), hn::Set(one, low)));
}

// Shifts words, as bytes cannot be shifted; bits of neighbours stay in the bytes until an And.
template <int bits>
HWY_INLINE Codes ShiftRightMixing(Codes codes) {
  const hn::Repartition<std::uint16_t, CodeTag> u16;
  return hn::BitCast(CodeTag(), hn::ShiftRight<bits>(hn::BitCast(u16, codes)));
}
template <int bits>
HWY_INLINE Codes ShiftLeftMixing(Codes codes) {
  const hn::Repartition<std::uint16_t, CodeTag> u16;
  return hn::BitCast(CodeTag(), hn::ShiftLeft<bits>(hn::BitCast(u16, codes)));
}

HWY_INLINE Codes AndByte(Codes codes, std::uint8_t mask) {
  return hn::And(codes, hn::Set(CodeTag(), mask));
}

HWY_INLINE Levels LevelsOf(Codes codes) { return hn::BitCast(LevelTag(), codes); }

/// Levels first .. first + float_lanes - 1 as floats.
template <std::size_t first, class SomeLevels>  // Levels; a parameter, so that most branches vanish
HWY_INLINE Floats FloatsOf(SomeLevels levels) {
  auto integers = hn::Undefined(IntTag());
  if constexpr (float_lanes == 16) {
    integers = hn::PromoteTo(IntTag(), levels);
  } else if constexpr (float_lanes == 8 && first == 0) {
    integers = hn::PromoteTo(IntTag(), hn::LowerHalf(levels));
  } else if constexpr (float_lanes == 8) {
    integers = hn::PromoteTo(IntTag(), hn::UpperHalf(hn::Half<LevelTag>(), levels));
  } else if constexpr (first == 0) {
    integers = hn::PromoteTo(IntTag(), hn::LowerHalf(hn::LowerHalf(levels)));
  } else {
    const auto moved = hn::ShiftRightBytes<first>(LevelTag(), levels);
    integers = hn::PromoteTo(IntTag(), hn::LowerHalf(hn::LowerHalf(moved)));
  }
  return hn::ConvertTo(FloatTag(), integers);
}

/// dst[i] = level[i] * scale
template <std::size_t first = 0, class Store>
HWY_INLINE void StoreScaled(Levels levels, Floats scale, float* dst, Store store) {
  store(hn::Mul(FloatsOf<first>(levels), scale), dst + first);
  if constexpr (first + float_lanes < 16) {
    StoreScaled<first + float_lanes>(levels, scale, dst, store);
  }
}

/// dst[i] = level[i] * scale
template <class SomeWords, class Store>
HWY_INLINE void StoreScaledWords(SomeWords levels, Floats scale, float* dst, Store store) {
  if constexpr (word_lanes == float_lanes) {
    store(hn::Mul(hn::ConvertTo(FloatTag(), hn::PromoteTo(IntTag(), levels)), scale), dst);
  } else {
    const hn::Half<WordTag> half;
    const auto low = hn::PromoteTo(IntTag(), hn::LowerHalf(levels));
    const auto high = hn::PromoteTo(IntTag(), hn::UpperHalf(half, levels));
    store(hn::Mul(hn::ConvertTo(FloatTag(), low), scale), dst);
    store(hn::Mul(hn::ConvertTo(FloatTag(), high), scale), dst + float_lanes);
  }
}

/// dst[i] = level[i] * scale + offset
template <std::size_t first = 0, class Store>
HWY_INLINE void StoreAffine(Levels levels, Floats scale, Floats offset, float* dst, Store store) {
  store(hn::Add(hn::Mul(FloatsOf<first>(levels), scale), offset), dst + first);
  if constexpr (first + float_lanes < 16) {
    StoreAffine<first + float_lanes>(levels, scale, offset, dst, store);
  }
}

/// Stores two times 16 of them.
template <class Store>
HWY_INLINE void StoreAffine(Levels first, Levels last, Floats scale, Floats offset, float* dst,
                            Store store) {
  StoreAffine(first, scale, offset, dst, store);
  StoreAffine(last, scale, offset, dst + 16, store);
}

/// Filling all lanes is a load from memory, but a shuffle from a register; and decoding is bound by
/// the units for shuffles. g++ would keep the values in a register.
template <class T, std::size_t count>
HWY_INLINE void KeepInMemory(T (&values)[count]) {
  __asm__("" : "+m"(values));
}

/// The scales of 16 groups, each in all lanes, for level[i] * scale.
class Factors {
 public:
  HWY_INLINE Factors(Levels levels, Floats scale) {
    StoreScaled(levels, scale, values_, CachedStore());
    KeepInMemory(values_);
  }
  [[nodiscard]] HWY_INLINE Floats operator[](std::size_t group) const {
    return hn::Set(FloatTag(), values_[group]);
  }

 private:
  HWY_ALIGN float values_[16];
};

/// The scale and the offset of each group.
class GroupFactors {
 public:
  HWY_INLINE GroupFactors(Levels numbers, Floats unit, Levels minimums, Floats minimum)
      : scales_(numbers, unit), offsets_(minimums, hn::Neg(minimum)) {}

  [[nodiscard]] HWY_INLINE Floats Scale(std::size_t group) const { return scales_[group]; }
  [[nodiscard]] HWY_INLINE Floats Offset(std::size_t group) const { return offsets_[group]; }

 private:
  Factors scales_;
  Factors offsets_;
};

// --- codes of up to 4 bits ---------------------------------------------------------------------

/// The level of each code.
using Codebook = std::array<std::int8_t, 16>;

/// codebook[code] * scale, where only the low nibbles of codes count.
class Products {
 public:
#if HWY_TARGET <= HWY_AVX3
  // All products fit in a vector, and a look-up ignores the bits above the nibble.
  HWY_INLINE Products(const Codebook& codebook, Floats scale)
      : products_(hn::Mul(FloatsOf<0>(hn::LoadU(LevelTag(), codebook.data())), scale)) {}

  template <class Store>
  HWY_INLINE void operator()(Codes codes, float* dst, Store store) const {
    const hn::Indices512<float> indices{hn::PromoteTo(IntTag(), codes).raw};
    store(hn::TableLookupLanes(products_, indices), dst);
  }

 private:
  Floats products_;
#else
  HWY_INLINE Products(const Codebook& codebook, Floats scale)
      : codebook_(hn::LoadU(LevelTag(), codebook.data())), scale_(scale) {}

  template <class Store>
  HWY_INLINE void operator()(Codes codes, float* dst, Store store) const {
    const Codes nibbles = AndByte(codes, 15);
    StoreScaled(hn::TableLookupBytes(codebook_, LevelsOf(nibbles)), scale_, dst, store);
  }

 private:
  Levels codebook_;
  Floats scale_;
#endif
};

/// Computes code * scale + offset, where only the low `bits` of codes count.
template <int bits>
class AffineCodes {
  static constexpr std::uint8_t mask = (1 << bits) - 1;

 public:
  template <class Store>
  HWY_INLINE void operator()(Codes first, Codes last, float* dst, Store store) const {
    (*this)(first, dst, store);
    (*this)(last, dst + 16, store);
  }

#if HWY_TARGET <= HWY_AVX3
  HWY_INLINE AffineCodes(Floats scale, Floats offset) {
    const auto codes = hn::And(hn::Iota(IntTag(), 0), hn::Set(IntTag(), mask));
    values_ = hn::Add(hn::Mul(hn::ConvertTo(FloatTag(), codes), scale), offset);
  }

  template <class Store>
  HWY_INLINE void operator()(Codes codes, float* dst, Store store) const {
    const hn::Indices512<float> indices{hn::PromoteTo(IntTag(), codes).raw};
    store(hn::TableLookupLanes(values_, indices), dst);
  }

 private:
  Floats values_;
#else
  HWY_INLINE AffineCodes(Floats scale, Floats offset) : scale_(scale), offset_(offset) {}

  template <class Store>
  HWY_INLINE void operator()(Codes codes, float* dst, Store store) const {
    StoreAffine(LevelsOf(AndByte(codes, mask)), scale_, offset_, dst, store);
  }

 private:
  Floats scale_;
  Floats offset_;
#endif
};

// --- blocks ------------------------------------------------------------------------------------

[[nodiscard]] HWY_INLINE bool CanStream(const float* dst, Stores stores) {
  return stores == Stores::streamed && reinterpret_cast<std::uintptr_t>(dst) % 64 == 0;
}

/// The distance at which the source of streamed blocks is prefetched. CPUs fetch too little ahead
/// where blocks are as long as their floats. A prefetch beyond the end does nothing.
inline constexpr std::size_t prefetch_bytes = 1024;

/// Decodes blocks one after the other: Decode(block, dst, store), where `store` is one of the two
/// above and `block` a reference into `src`.
template <class Block, std::size_t block_elements>
HWY_INLINE void DecodeBlocks(const std::byte* src, float* dst, std::size_t block_count,
                             Stores stores) {
  // Blocks are bytes without alignment, so one may be used where it lies.
  const auto* blocks = reinterpret_cast<const Block*>(src);
  if (CanStream(dst, stores)) {
    for (std::size_t b = 0; b < block_count; ++b, dst += block_elements) {
      for (std::size_t line = 0; line < sizeof(Block); line += 64) {
        hwy::Prefetch(reinterpret_cast<const std::byte*>(blocks + b) + prefetch_bytes + line);
      }
      Decode(blocks[b], dst, StreamedStore());
    }
    hwy::FlushStream();
    return;
  }
  for (std::size_t b = 0; b < block_count; ++b, dst += block_elements) {
    Decode(blocks[b], dst, CachedStore());
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
