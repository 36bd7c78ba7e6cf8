// SPDX-License-Identifier: MIT
// What every decoding kernel shares. Included once per CPU target, after hwy/highway.h.
//
// Kernels work on 16 weights at a time: their codes are the bytes of one 128-bit vector, their
// floats 1, 2 or 4 vectors. Scaling an integer code commutes with nothing that rounds: every weight
// is the product (or product and sum) that the reference computes, whether it is computed for the
// weight or once for all 16 codes that it may have.

// clang-format off
#if defined(INGOT_CODEC_DISPATCH_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_DISPATCH_INL_HPP
#undef INGOT_CODEC_DISPATCH_INL_HPP
#else
#define INGOT_CODEC_DISPATCH_INL_HPP
#endif
// clang-format on

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <array>

#include "codec/block.hpp"
#include "codec/codec.hpp"
#include "codec/cpu_targets.hpp"
#include "codec/lane_sums_inl.hpp"

// Defines Dequantize<name> and Sum<name> for this CPU target: by the functor Decode<name>, which is
// called for each Block<name>; without vectors by the reference.
#undef INGOT_DECODER
#if HWY_TARGET == HWY_SCALAR
#define INGOT_DECODER(name, enumerator, elements)                                            \
  void Dequantize##name(const std::byte* src, float* dst, std::size_t block_count, Stores) { \
    dequantize_##enumerator##_ref(src, dst, block_count);                                    \
  }                                                                                          \
  void Sum##name(const std::byte* src, std::size_t block_count, LaneSums& sums) {            \
    sum_blocks_ref(*find_type(TensorType::enumerator), dequantize_##enumerator##_ref, src,   \
                   block_count, sums);                                                       \
  }
#else
#define INGOT_DECODER(name, enumerator, elements)                                       \
  void Dequantize##name(const std::byte* src, float* dst, std::size_t block_count,      \
                        Stores stores) {                                                \
    DecodeBlocks<Block##name, elements>(src, dst, block_count, stores, Decode##name()); \
  }                                                                                     \
  void Sum##name(const std::byte* src, std::size_t block_count, LaneSums& sums) {       \
    SumBlocks<Block##name, elements>(src, block_count, sums, Decode##name());           \
  }
#endif

// Defines dequantize_<enumerator> and sum_<enumerator>: the Dequantize<name> and the Sum<name> of
// the CPU that runs it.
#undef INGOT_EXPORT_DECODER
#define INGOT_EXPORT_DECODER(name, enumerator)                                                    \
  INGOT_KERNELS(Dequantize##name);                                                                \
  void dequantize_##enumerator(const std::byte* src, float* dst, std::size_t block_count,         \
                               Stores stores) noexcept {                                          \
    kernel_of(Dequantize##name##Kernels)(src, dst, block_count, stores);                          \
  }                                                                                               \
  INGOT_KERNELS(Sum##name);                                                                       \
  void sum_##enumerator(const std::byte* src, std::size_t block_count, LaneSums& sums) noexcept { \
    kernel_of(Sum##name##Kernels)(src, block_count, sums);                                        \
  }

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

using FloatTag = hn::CappedTag<float, 16>;
using IntTag = hn::RebindToSigned<FloatTag>;
using CodeTag = hn::CappedTag<std::uint8_t, 16>;
using LevelTag = hn::CappedTag<std::int8_t, 16>;

using Floats = hn::Vec<FloatTag>;
using Codes = hn::Vec<CodeTag>;    ///< 16 unsigned bytes.
using Levels = hn::Vec<LevelTag>;  ///< 16 signed bytes.

/// Floats of one vector: 16, 8 or 4.
inline constexpr std::size_t float_lanes = HWY_MIN(HWY_LANES(float), 16);

// --- storing -----------------------------------------------------------------------------------

struct CachedStore {
  HWY_INLINE void operator()(Floats value, float* to) const { hn::StoreU(value, FloatTag(), to); }
};

struct StreamedStore {
  HWY_INLINE void operator()(Floats value, float* to) const { hn::Stream(value, FloatTag(), to); }
};

// --- binary16 ----------------------------------------------------------------------------------

using HalfTag = hn::Rebind<hwy::float16_t, FloatTag>;
using HalfBitsTag = hn::RebindToUnsigned<HalfTag>;

/// binary16 to binary32, exact, as f32_from_f16.
HWY_INLINE Floats FloatsFromHalves(hn::Vec<HalfBitsTag> halves) {
#if HWY_TARGET <= HWY_AVX2
  return hn::PromoteTo(FloatTag(), hn::BitCast(HalfTag(), halves));
#else
  // Highway's own knows neither infinity nor NaN where the CPU has no instruction.
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

/// The binary16 at `bytes`, in every lane.
HWY_INLINE Floats HalfAt(const std::uint8_t* bytes) {
#if HWY_TARGET <= HWY_AVX3
  // Converting short vectors and filling long ones takes fewer units than the other way round.
  const hn::CappedTag<float, 4> f32;
  const hn::Rebind<hwy::float16_t, decltype(f32)> f16;
  const hn::RebindToUnsigned<decltype(f16)> u16;
  const auto converted = hn::PromoteTo(f32, hn::BitCast(f16, hn::Set(u16, u16_at(bytes))));
  return hn::Set(FloatTag(), hn::GetLane(converted));
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

// --- codes and levels --------------------------------------------------------------------------

HWY_INLINE Codes LoadCodes(const std::uint8_t* bytes) { return hn::LoadU(CodeTag(), bytes); }

/// Two times 8 bytes, `low` first.
HWY_INLINE Codes CodesOf(std::uint64_t low, std::uint64_t high) {
  const hn::CappedTag<std::uint64_t, 2> pair;
  const hn::Half<decltype(pair)> one;
  return hn::BitCast(CodeTag(), hn::Combine(pair, hn::Set(one, high), hn::Set(one, low)));
}

// Bytes cannot be shifted: neighbours move in, until an And.
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

/// dst[i] = level[i] * scale + offset
template <std::size_t first = 0, class Store>
HWY_INLINE void StoreAffine(Levels levels, Floats scale, Floats offset, float* dst, Store store) {
  store(hn::Add(hn::Mul(FloatsOf<first>(levels), scale), offset), dst + first);
  if constexpr (first + float_lanes < 16) {
    StoreAffine<first + float_lanes>(levels, scale, offset, dst, store);
  }
}

/// level[i] * scale of 16 groups, each wanted in all lanes.
class Factors {
 public:
  HWY_INLINE Factors(Levels levels, Floats scale) {
    StoreScaled(levels, scale, values_, CachedStore());
    KeepInMemory(values_);
  }
  [[nodiscard]] HWY_INLINE Floats operator[](std::size_t group) const {
    return hn::Set(FloatTag(), values_[group]);
  }

  /// Filling all lanes from memory is a load, from a register a shuffle; and shuffles are what
  /// decoding has too few units for. g++ would keep the values in a register.
  template <std::size_t count>
  static HWY_INLINE void KeepInMemory(float (&values)[count]) {
    __asm__("" : "+m"(values));
  }

 private:
  HWY_ALIGN float values_[16];
};

// --- codes of up to 4 bits ---------------------------------------------------------------------

/// What each code stands for.
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

/// code * scale + offset, where only the low `bits` of codes count.
template <int bits>
class AffineCodes {
  static constexpr std::uint8_t mask = (1 << bits) - 1;

 public:
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

/// How far ahead of a streamed block its source is fetched: what the CPU itself does too timidly
/// where blocks are as long as their floats. A prefetch beyond the end does nothing.
inline constexpr std::size_t prefetch_bytes = 1024;

/// Decodes blocks one after the other: decode_block(block, dst, store), where `store` is one of the
/// two above and `block` a reference into `src`.
template <class Block, std::size_t block_elements, class DecodeBlock>
HWY_INLINE void DecodeBlocks(const std::byte* src, float* dst, std::size_t block_count,
                             Stores stores, const DecodeBlock& decode_block) {
  // Blocks are bytes without alignment, so one may be used where it lies.
  const auto* blocks = reinterpret_cast<const Block*>(src);
  if (CanStream(dst, stores)) {
    for (std::size_t b = 0; b < block_count; ++b, dst += block_elements) {
      for (std::size_t line = 0; line < sizeof(Block); line += 64) {
        hwy::Prefetch(reinterpret_cast<const std::byte*>(blocks + b) + prefetch_bytes + line);
      }
      decode_block(blocks[b], dst, StreamedStore());
    }
    hwy::FlushStream();
    return;
  }
  for (std::size_t b = 0; b < block_count; ++b, dst += block_elements) {
    decode_block(blocks[b], dst, CachedStore());
  }
}

// --- summing -----------------------------------------------------------------------------------

/// Adds floats up instead of storing them; for vectors of all 16 lanes.
struct SummingStore {
  VectorSums<false>* sums;
  HWY_INLINE void operator()(Floats value, const float*) const { sums->Add(value); }
};

/// Adds the floats of blocks to the sums, around zero.
template <class Block, std::size_t block_elements, class DecodeBlock>
HWY_INLINE void SumBlocks(const std::byte* src, std::size_t block_count, LaneSums& sums,
                          const DecodeBlock& decode_block) {
  if constexpr (float_lanes == statistics_lanes) {
    float nowhere[block_elements];
    const auto* blocks = reinterpret_cast<const Block*>(src);
    VectorSums<false> vector_sums(0.0f, sums, 0);
    for (std::size_t b = 0; b < block_count; ++b) {
      decode_block(blocks[b], nowhere, SummingStore{&vector_sums});
    }
    vector_sums.StoreTo(sums, 0);
  } else {
    // The sums of all lanes would not leave registers enough to decode.
    constexpr std::size_t most_blocks = 1024 / block_elements;
    HWY_ALIGN float floats[most_blocks * block_elements];
    for (std::size_t first = 0; first < block_count; first += most_blocks) {
      const std::size_t count = HWY_MIN(most_blocks, block_count - first);
      DecodeBlocks<Block, block_elements>(src + first * sizeof(Block), floats, count,
                                          Stores::cached, decode_block);
      sum_lanes(floats, count * block_elements, 0.0f, sums);
    }
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
