// SPDX-License-Identifier: MIT
#define HWY_TARGET_INCLUDE "codec/decode/ternary_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/blocks/ternary.hpp"
#include "codec/decode/decoding_inl.hpp"
#include "codec/decode/unpacking_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
template <class Store>
HWY_INLINE void Decode(const BlockQ1_0& block, float* dst, Store store) {
  const Floats scale = HalfAt(block.scale.data());
  const Floats negated = hn::Neg(scale);
  for (std::size_t i = 0; i < 128; i += 16) {
    if constexpr (float_lanes >= 8) {
      for (std::size_t j = 0; j < 16; j += float_lanes) {
        const auto is_set = hn::LoadMaskBits(FloatTag(), &block.signs[(i + j) / 8]);
        store(hn::IfThenElse(is_set, scale, negated), dst + i + j);
      }
    } else {
      const auto is_set = hn::LoadMaskBits(LevelTag(), &block.signs[i / 8]);
      const Levels levels = hn::IfThenElse(is_set, hn::Set(LevelTag(), 1), hn::Set(LevelTag(), -1));
      StoreScaled(levels, scale, dst + i, store);
    }
  }
}

/// Codes of two bits, less one; look-ups use two more bits.
constexpr Codebook two_bits = {-1, 0, 1, 2, -1, 0, 1, 2, -1, 0, 1, 2, -1, 0, 1, 2};

template <class Store>
HWY_INLINE void Decode(const BlockQ2_0& block, float* dst, Store store) {
  const Products products(two_bits, HalfAt(block.scale.data()));
  VisitCodes(block, [&](std::size_t i, Codes codes) HWY_ATTR { products(codes, dst + i, store); });
}

template <class Store>
HWY_INLINE void Decode(const BlockTQ2_0& block, float* dst, Store store) {
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

using TritTag = hn::RebindToUnsigned<WordTag>;
using TritBytes = hn::Rebind<std::uint8_t, TritTag>;

/// The first trits, minus one, of bytes in the upper halves of words: 3 times a word has the trit
/// in its upper half, and the remaining trits in its lower half.
HWY_INLINE Words FirstTrits(hn::Vec<TritTag> words) {
  const auto trits = hn::MulHigh(words, hn::Set(TritTag(), 3));
  return hn::Sub(hn::BitCast(WordTag(), trits), hn::Set(WordTag(), 1));
}

/// Five rows of weights from as many bytes as a row is long.
template <std::size_t row_elements, class Store>
HWY_INLINE void DecodeRows(const std::uint8_t* bytes, Floats scale, float* dst, Store store) {
  for (std::size_t i = 0; i < row_elements; i += word_lanes) {
    const auto promoted = hn::PromoteTo(TritTag(), hn::LoadU(TritBytes(), bytes + i));
    auto words = hn::ShiftLeft<8>(promoted);
    for (std::size_t t = 0; t < 5; ++t) {
      StoreScaledWords(FirstTrits(words), scale, dst + row_elements * t + i, store);
      words = hn::Mul(words, hn::Set(TritTag(), 3));
    }
  }
}

template <class Store>
HWY_INLINE void Decode(const BlockTQ1_0& block, float* dst, Store store) {
  const auto scale = HalfAt(block.scale.data());
  DecodeRows<32>(&block.trits[0], scale, dst, store);
  DecodeRows<16>(&block.trits[32], scale, dst + 160, store);

  // Bytes 48..51 four times, multiplied by the first four powers of 3.
  HWY_ALIGN static constexpr std::uint16_t powers[16] = {
      256 * 1, 256 * 1, 256 * 1, 256 * 1, 256 * 3,  256 * 3,  256 * 3,  256 * 3,
      256 * 9, 256 * 9, 256 * 9, 256 * 9, 256 * 27, 256 * 27, 256 * 27, 256 * 27};
  const hn::Repartition<std::uint32_t, TritBytes> u32;
  const auto bytes = hn::BitCast(TritBytes(), hn::Set(u32, u32_at(&block.trits[48])));
  const auto words = hn::PromoteTo(TritTag(), bytes);
  for (std::size_t i = 0; i < 16; i += word_lanes) {
    const auto shifted = hn::Mul(words, hn::Load(TritTag(), powers + i));
    StoreScaledWords(FirstTrits(shifted), scale, dst + 240 + i, store);
  }
}
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_DECODER(Q1_0, q1_0)
INGOT_DECODER(Q2_0, q2_0)
INGOT_DECODER(TQ1_0, tq1_0)
INGOT_DECODER(TQ2_0, tq2_0)
