// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/ternary.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/ternary_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/dispatch_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// Codes of two bits, less one; look-ups see two bits more.
constexpr Codebook two_bits = {-1, 0, 1, 2, -1, 0, 1, 2, -1, 0, 1, 2, -1, 0, 1, 2};

struct DecodeQ2_0 {
  template <class Store>
  HWY_INLINE void operator()(const BlockQ2_0& block, float* dst, Store store) const {
    const hn::Repartition<std::uint16_t, CodeTag> u16;
    const Products products(two_bits, HalfAt(block.scale.data()));
    // Code t of each byte, then 0 1 0 1.. and 2 3 2 3.., then 0 1 2 3...
    const Codes codes_0 = LoadCodes(block.codes.data());
    const Codes codes_1 = ShiftRightMixing<2>(codes_0);
    const Codes codes_2 = ShiftRightMixing<4>(codes_0);
    const Codes codes_3 = ShiftRightMixing<6>(codes_0);
    const auto low_01 = hn::BitCast(u16, hn::InterleaveLower(CodeTag(), codes_0, codes_1));
    const auto low_23 = hn::BitCast(u16, hn::InterleaveLower(CodeTag(), codes_2, codes_3));
    const auto high_01 = hn::BitCast(u16, hn::InterleaveUpper(CodeTag(), codes_0, codes_1));
    const auto high_23 = hn::BitCast(u16, hn::InterleaveUpper(CodeTag(), codes_2, codes_3));
    products(hn::BitCast(CodeTag(), hn::InterleaveLower(u16, low_01, low_23)), dst, store);
    products(hn::BitCast(CodeTag(), hn::InterleaveUpper(u16, low_01, low_23)), dst + 16, store);
    products(hn::BitCast(CodeTag(), hn::InterleaveLower(u16, high_01, high_23)), dst + 32, store);
    products(hn::BitCast(CodeTag(), hn::InterleaveUpper(u16, high_01, high_23)), dst + 48, store);
  }
};

struct DecodeTQ2_0 {
  template <class Store>
  HWY_INLINE void operator()(const BlockTQ2_0& block, float* dst, Store store) const {
    const Products products(two_bits, HalfAt(block.scale.data()));
    for (std::size_t chunk = 0; chunk < 4; ++chunk) {  // 16 bytes of codes
      const Codes codes = LoadCodes(&block.codes[16 * chunk]);
      float* row = dst + 128 * (chunk / 2) + 16 * (chunk % 2);
      products(codes, row, store);
      products(ShiftRightMixing<2>(codes), row + 32, store);
      products(ShiftRightMixing<4>(codes), row + 64, store);
      products(ShiftRightMixing<6>(codes), row + 96, store);
    }
  }
};

/// The first trit of each byte, less one: byte * 3 / 256 - 1.
HWY_INLINE Levels FirstTrit(Codes bytes) {
  const Codes one = hn::Set(CodeTag(), 1);
  const Codes is_1_or_2 = hn::Min(hn::SaturatedSub(bytes, hn::Set(CodeTag(), 85)), one);
  const Codes is_2 = hn::Min(hn::SaturatedSub(bytes, hn::Set(CodeTag(), 170)), one);
  return LevelsOf(hn::Sub(hn::Add(is_1_or_2, is_2), one));
}

HWY_INLINE Codes DropFirstTrit(Codes bytes) { return hn::Add(bytes, hn::Add(bytes, bytes)); }

struct DecodeTQ1_0 {
  template <class Store>
  HWY_INLINE void operator()(const BlockTQ1_0& block, float* dst, Store store) const {
    const Floats scale = HalfAt(block.scale.data());
    Codes first = LoadCodes(&block.trits[0]);
    Codes second = LoadCodes(&block.trits[16]);
    Codes third = LoadCodes(&block.trits[32]);
    for (std::size_t t = 0; t < 5; ++t) {
      StoreScaled(FirstTrit(first), scale, dst + 32 * t, store);
      StoreScaled(FirstTrit(second), scale, dst + 32 * t + 16, store);
      StoreScaled(FirstTrit(third), scale, dst + 160 + 16 * t, store);
      first = DropFirstTrit(first);
      second = DropFirstTrit(second);
      third = DropFirstTrit(third);
    }
    // Bytes 48..51 four times, multiplied by the first four powers of 3.
    const std::uint64_t trit_0 = u32_at(&block.trits[48]);
    HWY_ALIGN std::uint8_t last[16];
    for (std::size_t i = 0; i < 4; ++i) {
      const unsigned byte = static_cast<unsigned>(trit_0 >> (8 * i) & 255u);
      last[i] = static_cast<std::uint8_t>(byte);
      last[4 + i] = static_cast<std::uint8_t>(3 * byte);
      last[8 + i] = static_cast<std::uint8_t>(9 * byte);
      last[12 + i] = static_cast<std::uint8_t>(27 * byte);
    }
    StoreScaled(FirstTrit(LoadCodes(last)), scale, dst + 240, store);
  }
};
#endif

INGOT_DECODER(Q2_0, q2_0, 64)
INGOT_DECODER(TQ1_0, tq1_0, 256)
INGOT_DECODER(TQ2_0, tq2_0, 256)

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_EXPORT_DECODER(Q2_0, q2_0)
INGOT_EXPORT_DECODER(TQ1_0, tq1_0)
INGOT_EXPORT_DECODER(TQ2_0, tq2_0)

}  // namespace ingot::codec
#endif
