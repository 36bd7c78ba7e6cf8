// SPDX-License-Identifier: MIT
#include "codec/blocks/iq1.hpp"
#include "codec/codec.hpp"
#include "codec/lattice/lattice.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/decode/iq1_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/decode/dispatch_inl.hpp"
#include "codec/decode/lattice_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// Points of the lattice, plus or minus an eighth, in eighths: points are -1, 0 and 1, whose low
/// nibbles are 15, 0 and 1, for +0.125; and four less for -0.125. A scale divided by 8 is exact,
/// and so is what is multiplied by it: the smallest scale is 2^-24.
constexpr Codebook shifted_points = {1, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, -9, -1, 7, 0, -7};

struct DecodeIQ1_S {
  template <class Store>
  HWY_INLINE void operator()(const BlockIQ1_S& block, float* dst, Store store) const {
    // Bits 12..14 of word g are bits 4..6 of byte 2g+1. What the even bytes become is no scale, but
    // no larger than one can be.
    const Codes bytes = LoadCodes(block.groups.data());
    const Codes odd = hn::Or(AndByte(ShiftRightMixing<3>(bytes), 14), hn::Set(CodeTag(), 1));
    const auto factors = store.Groups(LevelsOf(odd), EighthOf(HalfAt(block.scale.data())));
    for (std::size_t group = 0; group < 8; ++group, dst += 32) {
      const unsigned word = u16_at(&block.groups[2 * group]);
      const Codes shift = hn::Set(CodeTag(), static_cast<std::uint8_t>(word >> 15 << 2));
      const auto products = ProductsOf(shifted_points, factors[2 * group + 1]);
      const std::uint8_t* ranks = &block.ranks[4 * group];
      const Codes first = CodesOf(iq1_grid[ranks[0] | (word << 8 & 0x700)],
                                  iq1_grid[ranks[1] | (word << 5 & 0x700)]);
      const Codes second = CodesOf(iq1_grid[ranks[2] | (word << 2 & 0x700)],
                                   iq1_grid[ranks[3] | (word >> 1 & 0x700)]);
      products(hn::Sub(first, shift), dst, store);
      products(hn::Sub(second, shift), dst + 16, store);
    }
  }
};

struct DecodeIQ1_M {
  template <class Store>
  HWY_INLINE void operator()(const BlockIQ1_M& block, float* dst, Store store) const {
    const Floats scale = FloatsFromHalves(hn::Set(HalfBitsTag(), scale_bits_of(block)));
    const auto factors = store.Groups(OddScales(u64_at(block.groups.data())), EighthOf(scale));

    // Bits 8..10 of the ranks, octet after octet.
    const Codes nibbles = LoadCodes(block.rank_high.data());
    const Codes even = AndByte(nibbles, 7);
    const Codes odd = AndByte(ShiftRightMixing<4>(nibbles), 7);
    RankArray<32> ranks;
    ranks.Set(0, LoadCodes(&block.ranks[0]), hn::InterleaveLower(CodeTag(), even, odd));
    ranks.Set(16, LoadCodes(&block.ranks[16]), hn::InterleaveUpper(CodeTag(), even, odd));

    const Codes minus_bits = CodesOf(0x0808080808080808, 0x8080808080808080);
    const Codes four = hn::Set(CodeTag(), 4);
    for (std::size_t group = 0; group < 16; ++group, dst += 16) {
      const Codes points = CodesOf(iq1_grid[ranks[2 * group]], iq1_grid[ranks[2 * group + 1]]);
      const auto is_minus = hn::TestBit(hn::Set(CodeTag(), block.rank_high[group]), minus_bits);
      const auto products = ProductsOf(shifted_points, factors[group]);
      products(hn::IfThenElse(is_minus, hn::Sub(points, four), points), dst, store);
    }
  }

  /// 2 * scale + 1 of the 16 groups, of which each 16-bit word has four in its lower 12 bits.
  [[nodiscard]] static HWY_INLINE Levels OddScales(std::uint64_t words) {
    constexpr std::uint64_t lower_words = 0x0000FFFF0000FFFF;
    const std::uint64_t even = Spread(words & lower_words);       // words 0 and 2
    const std::uint64_t odd = Spread(words >> 16 & lower_words);  // words 1 and 3
    const std::uint64_t first = (even & 0xFFFFFFFF) | odd << 32;
    const std::uint64_t last = even >> 32 | (odd & 0xFFFFFFFF00000000);
    constexpr std::uint64_t ones = 0x0101010101010101;
    return LevelsOf(CodesOf(first << 1 | ones, last << 1 | ones));
  }
  /// In both halves, the four fields of three bits each to a byte of its own.
  [[nodiscard]] static HWY_INLINE std::uint64_t Spread(std::uint64_t fields) {
    return (fields & 0x0000000700000007) | (fields << 5 & 0x0000070000000700) |
           (fields << 10 & 0x0007000000070000) | (fields << 15 & 0x0700000007000000);
  }
};
#endif

INGOT_DECODER(IQ1_S, iq1_s, 256)
INGOT_DECODER(IQ1_M, iq1_m, 256)

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ingot::codec {

INGOT_EXPORT_DECODER(IQ1_S, iq1_s)
INGOT_EXPORT_DECODER(IQ1_M, iq1_m)

}  // namespace ingot::codec
#endif
