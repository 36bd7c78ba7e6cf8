// SPDX-License-Identifier: MIT
#include "codec/codec.hpp"
#include "codec/iq1.hpp"
#include "codec/lattice.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "codec/iq1_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/dispatch_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// Points of the lattice, plus or minus an eighth, in eighths: points are -1, 0 and 1, whose low
/// nibbles are 15, 0 and 1, for +0.125; and those with bit 2 flipped for -0.125. A scale divided by
/// 8 is exact, and so is what is multiplied by it: the smallest scale is 2^-24.
constexpr Codebook shifted_points = {1, 9, 0, 0, -1, 7, 0, 0, 0, 0, 0, -9, 0, 0, 0, -7};

HWY_INLINE std::uint64_t Octet(unsigned rank, unsigned is_minus) {
  constexpr std::uint64_t bit_2 = 0x0404040404040404;
  return iq1_grid[rank] ^ (is_minus != 0 ? bit_2 : 0);
}

struct DecodeIQ1_S {
  template <class Store>
  HWY_INLINE void operator()(const BlockIQ1_S& block, float* dst, Store store) const {
    const float scale = hn::GetLane(HalfAt(block.scale.data()));
    for (std::size_t group = 0; group < 8; ++group, dst += 32) {
      const unsigned word = u16_at(&block.groups[2 * group]);
      const unsigned is_minus = word >> 15;
      const float factor = scale * static_cast<float>(2 * (word >> 12 & 7) + 1);
      const Products products(shifted_points, hn::Set(FloatTag(), factor * 0.125f));
      const std::uint8_t* ranks = &block.ranks[4 * group];
      products(CodesOf(Octet(ranks[0] | (word << 8 & 0x700), is_minus),
                       Octet(ranks[1] | (word << 5 & 0x700), is_minus)),
               dst, store);
      products(CodesOf(Octet(ranks[2] | (word << 2 & 0x700), is_minus),
                       Octet(ranks[3] | (word >> 1 & 0x700), is_minus)),
               dst + 16, store);
    }
  }
};

struct DecodeIQ1_M {
  template <class Store>
  HWY_INLINE void operator()(const BlockIQ1_M& block, float* dst, Store store) const {
    const std::uint16_t scale_bits = scale_bits_of(block);
    const Floats scales = FloatsFromHalves(hn::Set(HalfBitsTag(), scale_bits));
    const float scale = hn::GetLane(scales);
    for (std::size_t group = 0; group < 16; ++group, dst += 16) {
      const unsigned word = u16_at(&block.groups[2 * (group / 4)]);
      const unsigned group_scale = word >> (3 * (group % 4)) & 7;
      const float factor = scale * static_cast<float>(2 * group_scale + 1);
      const Products products(shifted_points, hn::Set(FloatTag(), factor * 0.125f));
      const unsigned high = block.rank_high[group];
      const std::uint8_t* ranks = &block.ranks[2 * group];
      products(CodesOf(Octet(ranks[0] | (high << 8 & 0x700), high & 0x08),
                       Octet(ranks[1] | (high << 4 & 0x700), high & 0x80)),
               dst, store);
    }
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
