// SPDX-License-Identifier: MIT
// The codes, signs and scales of 256 weights, each in an array of its own. Included once per CPU
// target, after hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_GROUP_CODES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_GROUP_CODES_INL_HPP
#undef INGOT_CODEC_GROUP_CODES_INL_HPP
#else
#define INGOT_CODEC_GROUP_CODES_INL_HPP
#endif
// clang-format on

#include <algorithm>
#include <cstring>

#include "codec/blocks/iq.hpp"
#include "codec/blocks/k.hpp"
#include "codec/blocks/ternary.hpp"
#include "codec/decode/lattice_inl.hpp"
#include "codec/decode/unpacking_inl.hpp"
#include "codec/statistics/group_sums.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// Group g is the weights 16g .. 16g + 15, two octets. A weight is scales[g] * level - minimums[g].
/// First and last octets lie apart, so that vectors of both give the sums of groups.
struct GroupCodes {
  HWY_ALIGN std::uint8_t codes[summed_run];
  HWY_ALIGN std::uint8_t signs[summed_run / 8];  ///< A bit for each code.
  HWY_ALIGN float scales[16];
  HWY_ALIGN float minimums[16];

  /// Where the codes of the first (0) or the last (1) octet of a group lie.
  [[nodiscard]] HWY_INLINE std::uint8_t* OctetAt(std::size_t group, std::size_t octet) {
    return codes + summed_run / 2 * octet + 8 * group;
  }
};

/// Stores codes whose lower half are first octets of groups from `group` on, and the upper half the
/// last ones.
template <class D>
HWY_INLINE void StoreHalves([[maybe_unused]] D d, hn::Vec<D> codes, std::size_t group,
                            GroupCodes& to) {
  const hn::Half<D> half;
  hn::StoreU(hn::LowerHalf(half, codes), half, to.OctetAt(group, 0));
  hn::StoreU(hn::UpperHalf(half, codes), half, to.OctetAt(group, 1));
}

/// Codes of two neighbouring groups, first octets before last ones, in one vector or in two.
class TwoGroups {
 public:
  using Tag = hn::CappedTag<std::uint8_t, 32>;

  /// Makes the groups from 32 codes in their order.
  HWY_INLINE explicit TwoGroups(const std::uint8_t* bytes) {
    const hn::Repartition<std::uint64_t, Tag> octets;
    if constexpr (part_count == 1) {
      HWY_ALIGN static constexpr std::int64_t order[4] = {0, 2, 1, 3};
      const auto loaded = hn::BitCast(octets, hn::LoadU(Tag(), bytes));
      parts_[0] =
          hn::BitCast(Tag(), hn::TableLookupLanes(loaded, hn::SetTableIndices(octets, order)));
    } else {
      const auto first = hn::BitCast(octets, hn::LoadU(Tag(), bytes));
      const auto last = hn::BitCast(octets, hn::LoadU(Tag(), bytes + 16));
      parts_[0] = hn::BitCast(Tag(), hn::InterleaveLower(octets, first, last));
      parts_[1] = hn::BitCast(Tag(), hn::InterleaveUpper(octets, first, last));
    }
  }

  template <int bits>
  [[nodiscard]] HWY_INLINE TwoGroups ShiftedRight() const {
    const hn::Repartition<std::uint16_t, Tag> u16;
    return Map([&](auto part) HWY_ATTR {
      return hn::BitCast(Tag(), hn::ShiftRight<bits>(hn::BitCast(u16, part)));
    });
  }

  /// The groups of function(codes).
  template <class Function>
  [[nodiscard]] HWY_INLINE TwoGroups Map(const Function& function) const {
    TwoGroups result = *this;
    for (auto& part : result.parts_) part = function(part);
    return result;
  }

  /// Codes of three bits: the last two of these, and above them the last one of `high`.
  [[nodiscard]] HWY_INLINE TwoGroups WithThirdBits(const TwoGroups& high) const {
    const hn::Repartition<std::uint16_t, Tag> u16;
    TwoGroups result = *this;
    for (std::size_t i = 0; i < part_count; ++i) {
      const auto third = hn::ShiftLeft<2>(hn::BitCast(u16, high.parts_[i]));
      result.parts_[i] = hn::Or(hn::And(parts_[i], hn::Set(Tag(), 3)),
                                hn::And(hn::BitCast(Tag(), third), hn::Set(Tag(), 4)));
    }
    return result;
  }

  /// Stores them as groups g and g + 1.
  HWY_INLINE void Store(std::size_t g, GroupCodes& to) const {
    if constexpr (part_count == 1) {
      StoreHalves(Tag(), parts_[0], g, to);
    } else {
      hn::Store(parts_[0], Tag(), to.OctetAt(g, 0));
      hn::Store(parts_[1], Tag(), to.OctetAt(g, 1));
    }
  }

 private:
  static constexpr std::size_t part_count = 32 / hn::MaxLanes(Tag());

  hn::Vec<Tag> parts_[part_count];
};
/// Splits a bit for each weight, in their order.
HWY_INLINE void SplitSigns(const std::uint8_t* signs, std::uint8_t* to) {
  Codes first, last;
  hn::LoadInterleaved2(CodeTag(), signs, first, last);
  hn::Store(first, CodeTag(), to);
  hn::Store(last, CodeTag(), to + 16);
}

/// Fills in one scale for `count` groups from `first` on.
HWY_INLINE void FillScales(const std::uint8_t* scale, std::size_t first, std::size_t count,
                           GroupCodes& to) {
  std::fill_n(to.scales + first, count, OneHalfAt(scale));
}

HWY_INLINE void Unpack(const BlockQ1_0* blocks, GroupCodes& to) {
  HWY_ALIGN std::uint8_t bits[32];
  std::memcpy(bits, blocks[0].signs.data(), 16);
  std::memcpy(bits + 16, blocks[1].signs.data(), 16);
  SplitSigns(bits, to.signs);
  const hn::CappedTag<std::uint8_t, 64> u8;
  for (std::size_t i = 0; i < summed_run; i += hn::Lanes(u8)) {
    const auto is_set = hn::LoadMaskBits(u8, &to.signs[i / 8]);
    hn::Store(hn::IfThenElseZero(is_set, hn::Set(u8, 1)), u8, to.codes + i);
  }
  for (std::size_t b = 0; b < 2; ++b) FillScales(blocks[b].scale.data(), 8 * b, 8, to);
}

HWY_INLINE void Unpack(const BlockQ2_0* blocks, GroupCodes& to) {
  for (std::size_t b = 0; b < 4; ++b) {
    VisitCodes(blocks[b], [&](std::size_t i, Codes codes)
                              HWY_ATTR { StoreHalves(CodeTag(), codes, 4 * b + i / 16, to); });
    FillScales(blocks[b].scale.data(), 4 * b, 4, to);
  }
}

template <class V>
HWY_INLINE V Tripled(V bytes) {
  return hn::Add(bytes, hn::Add(bytes, bytes));
}

/// The code of a trit is a byte that holds it first.
HWY_INLINE void Unpack(const BlockTQ1_0* block, GroupCodes& to) {
  FillScales(block->scale.data(), 0, 16, to);
  TwoGroups groups(&block->trits[0]);
  Codes group = LoadCodes(&block->trits[32]);
  for (std::size_t t = 0; t < 5; ++t) {
    groups.Store(2 * t, to);
    StoreHalves(CodeTag(), group, 10 + t, to);
    groups = groups.Map([](auto bytes) HWY_ATTR { return Tripled(bytes); });
    group = Tripled(group);
  }
  const hn::CappedTag<std::uint8_t, 4> quad;
  auto bytes = hn::LoadU(quad, &block->trits[48]);
  for (std::size_t t = 0; t < 4; ++t) {
    hn::StoreU(bytes, quad, to.OctetAt(15, t / 2) + 4 * (t % 2));
    bytes = Tripled(bytes);
  }
}

/// Rows of 32 codes of two bits, four in the same 32 bytes: other bits stay in front of them.
HWY_INLINE void UnpackRows(const std::uint8_t* bytes, GroupCodes& to) {
  for (std::size_t half = 0; half < 2; ++half) {
    const TwoGroups groups(bytes + 32 * half);
    groups.Store(8 * half, to);
    groups.ShiftedRight<2>().Store(8 * half + 2, to);
    groups.ShiftedRight<4>().Store(8 * half + 4, to);
    groups.ShiftedRight<6>().Store(8 * half + 6, to);
  }
}

HWY_INLINE void Unpack(const BlockTQ2_0* block, GroupCodes& to) {
  FillScales(block->scale.data(), 0, 16, to);
  UnpackRows(block->codes.data(), to);
}

HWY_INLINE void Unpack(const BlockQ2_K* block, GroupCodes& to) {
  const Codes groups = LoadCodes(block->groups.data());
  const Codes minimums = AndByte(ShiftRightMixing<4>(groups), 15);
  StoreScaled(LevelsOf(AndByte(groups, 15)), HalfAt(block->scale.data()), to.scales, CachedStore());
  StoreScaled(LevelsOf(minimums), HalfAt(block->minimum.data()), to.minimums, CachedStore());
  UnpackRows(block->codes.data(), to);
}

HWY_INLINE void Unpack(const BlockQ3_K* block, GroupCodes& to) {
  StoreScaled(GroupScales(*block), HalfAt(block->scale.data()), to.scales, CachedStore());
  TwoGroups high(block->high_bits.data());
  for (std::size_t half = 0; half < 2; ++half) {
    TwoGroups low(&block->codes[32 * half]);
    for (std::size_t g = 8 * half; g < 8 * half + 8; g += 2) {
      low.WithThirdBits(high).Store(g, to);
      low = low.ShiftedRight<2>();
      high = high.ShiftedRight<1>();
    }
  }
}

/// Stores a point. Compilers would collect points in long vectors first, which takes longer.
template <class Point>
HWY_INLINE void StorePoint(Point point, std::uint8_t* to) {
  __asm__("" : "+r"(point));
  std::memcpy(to, &point, sizeof point);
}

/// Codes of a lattice are points, octets or twice as many quads, of which rank_of(k) is the rank.
template <class Point, std::size_t count, class RankOf>
HWY_INLINE void CopyPoints(const std::array<Point, count>& points, const RankOf& rank_of,
                           GroupCodes& to) {
  constexpr std::size_t octet_points = 8 / sizeof(Point);
  constexpr std::size_t group_points = 2 * octet_points;
  for (std::size_t group = 0; group < 16; group += 2) {
    for (std::size_t i = 0; i < 2 * group_points; ++i) {
      std::uint8_t* octet = to.OctetAt(group + i / group_points, i / octet_points % 2);
      StorePoint(points[rank_of(group_points * group + i)],
                 octet + sizeof(Point) * (i % octet_points));
    }
  }
}

/// Scales of 8 groups of 32 weights, each for two groups of 16.
HWY_INLINE Levels Twice(Levels groups) { return hn::InterleaveLower(LevelTag(), groups, groups); }

HWY_INLINE void Unpack(const BlockIQ1_S* block, GroupCodes& to) {
  // In a word, bits 12..14 are the scale of 32 weights, and bit 15 is set for their shift of
  // -0.125.
  const hn::Repartition<std::uint16_t, CodeTag> u16;
  const Codes words = LoadCodes(block->groups.data());
  const auto last = hn::ShiftRight<8>(hn::BitCast(u16, OddScalesOfSecondBytes(words)));
  const Codes both = hn::BitCast(CodeTag(), hn::Or(last, hn::ShiftLeft<8>(last)));
  StoreScaled(LevelsOf(both), EighthOf(HalfAt(block->scale.data())), to.scales, CachedStore());
  const hn::RebindToSigned<decltype(u16)> i16;
  const Codes shifts = hn::BitCast(CodeTag(), hn::ShiftRight<15>(hn::BitCast(i16, words)));
  hn::Store(shifts, CodeTag(), to.signs);
  hn::Store(shifts, CodeTag(), to.signs + 16);
  const RankArray<32> ranks = RanksOf(*block);
  CopyPoints(
      iq1_grid, [&](std::size_t k) HWY_ATTR { return ranks[k]; }, to);
}

HWY_INLINE void Unpack(const BlockIQ1_M* block, GroupCodes& to) {
  const Floats scale = FloatsFromHalves(hn::Set(HalfBitsTag(), scale_bits_of(*block)));
  StoreScaled(OddScalesOfWords(u64_at(block->groups.data())), EighthOf(scale), to.scales,
              CachedStore());
  // Bit 3 of a nibble is set for a shift of -0.125.
  const Codes nibbles = LoadCodes(block->rank_high.data());
  const auto is_minus = [&](std::uint8_t bit) HWY_ATTR {
    return hn::VecFromMask(CodeTag(), hn::TestBit(nibbles, hn::Set(CodeTag(), bit)));
  };
  hn::Store(is_minus(0x08), CodeTag(), to.signs);
  hn::Store(is_minus(0x80), CodeTag(), to.signs + 16);
  const RankArray<32> ranks = RanksOf(*block);
  CopyPoints(
      iq1_grid, [&](std::size_t k) HWY_ATTR { return ranks[k]; }, to);
}

HWY_INLINE void Unpack(const BlockIQ2_XXS* block, GroupCodes& to) {
  const std::uint8_t* groups = block->groups.data();
  StoreScaled(Twice(OddScalesOfTops<8>(groups)), EighthOf(HalfAt(block->scale.data())), to.scales,
              CachedStore());
  const SignWords<16> words(groups);
  HWY_ALIGN std::uint8_t signs[32];
  for (std::size_t group = 0; group < 8; ++group) {
    std::memcpy(signs + 4 * group, &words.signs[8 * group + 4], 4);
  }
  SplitSigns(signs, to.signs);
  const auto rank_of = [&](std::size_t k) HWY_ATTR { return groups[8 * (k / 4) + k % 4]; };
  CopyPoints(iq2_xxs_grid, rank_of, to);
}

HWY_INLINE void Unpack(const BlockIQ2_XS* block, GroupCodes& to) {
  const std::uint8_t* octets = block->octets.data();
  StoreScaled(OddScales(u64_at(block->groups.data())), EighthOf(HalfAt(block->scale.data())),
              to.scales, CachedStore());
  HWY_ALIGN std::uint8_t signs[32];
  StoreOctetSigns(octets, signs);
  SplitSigns(signs, to.signs);
  const auto rank_of = [&](std::size_t k) HWY_ATTR { return u16_at(octets + 2 * k) & 511u; };
  CopyPoints(iq2_xs_grid, rank_of, to);
}

HWY_INLINE void Unpack(const BlockIQ2_S* block, GroupCodes& to) {
  StoreScaled(OddScales(u64_at(block->groups.data())), EighthOf(HalfAt(block->scale.data())),
              to.scales, CachedStore());
  SplitSigns(block->signs.data(), to.signs);
  const RankArray<32> ranks = RanksOf(*block);
  CopyPoints(
      iq2_s_grid, [&](std::size_t k) HWY_ATTR { return ranks[k]; }, to);
}

HWY_INLINE void Unpack(const BlockIQ3_XXS* block, GroupCodes& to) {
  const Floats quarter = hn::Mul(HalfAt(block->scale.data()), hn::Set(FloatTag(), 0.25f));
  StoreScaled(Twice(OddScalesOfTops<4>(block->groups.data())), quarter, to.scales, CachedStore());
  SplitSigns(SignWords<8>(block->groups.data()).signs, to.signs);
  CopyPoints(
      iq3_xxs_grid, [&](std::size_t q) HWY_ATTR { return block->ranks[q]; }, to);
}

HWY_INLINE void Unpack(const BlockIQ3_S* block, GroupCodes& to) {
  StoreScaled(Twice(OddScales(u32_at(block->groups.data()))), HalfAt(block->scale.data()),
              to.scales, CachedStore());
  SplitSigns(block->signs.data(), to.signs);
  const RankArray<64> ranks = RanksOf(*block);
  CopyPoints(
      iq3_s_grid, [&](std::size_t q) HWY_ATTR { return ranks[q]; }, to);
}
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
