// SPDX-License-Identifier: MIT
// The lattices of the IQ types, and the best points of the least parts of a block that store signs
// or shifts of their own. Included once per CPU target, after hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_POINT_UNITS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_POINT_UNITS_INL_HPP
#undef INGOT_CODEC_POINT_UNITS_INL_HPP
#else
#define INGOT_CODEC_POINT_UNITS_INL_HPP
#endif
// clang-format on

#include <hwy/highway.h>

#include "codec/best/point_tables_inl.hpp"
#include "codec/blocks/iq.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

/// Scales that are tried for a group: the largest magnitude over the highest level and t, which is
/// `first` at first and grows by `step`.
struct PointTries {
  float first;
  float step;
};

template <class BlockType, std::size_t group, PointSigns sign_kind>
struct LatticeOf {
  using Block = BlockType;
  static constexpr std::size_t group_elements = group;
  static constexpr PointSigns signs = sign_kind;
  static constexpr std::size_t tries = 8;
  static constexpr PointTries range = {0.62f, 1.155f};  // tries up to 1.7
  static constexpr float greatest_code = 15.0f;
};

template <class BlockType, std::size_t group, PointSigns sign_kind>
struct Octets : LatticeOf<BlockType, group, sign_kind> {
  static constexpr std::size_t point_elements = 8;
  static constexpr std::size_t half_count = 81;
  static constexpr std::array<float, 3> levels = {8.0f, 25.0f, 43.0f};
  static constexpr float unit = 0.125f;  ///< The scale of group code 0, in units of the block's
                                         ///< scale.
};
struct LatticeIQ2_XXS : Octets<BlockIQ2_XXS, 32, PointSigns::even> {
  static constexpr auto halves = halves_of(iq2_xxs_codes, half_count);
};
struct LatticeIQ2_XS : Octets<BlockIQ2_XS, 16, PointSigns::even> {
  static constexpr auto halves = halves_of(iq2_xs_codes, half_count);
};
struct LatticeIQ2_S : Octets<BlockIQ2_S, 16, PointSigns::free> {
  static constexpr auto halves = halves_of(iq2_s_codes, half_count);
};

template <class BlockType, PointSigns sign_kind>
struct Quads : LatticeOf<BlockType, 32, sign_kind> {
  static constexpr std::size_t point_elements = 4;
  static constexpr std::size_t half_count = 64;
};
struct LatticeIQ3_XXS : Quads<BlockIQ3_XXS, PointSigns::even> {
  static constexpr std::array<float, 8> levels = {4, 12, 20, 28, 36, 44, 52, 62};
  static constexpr float unit = 0.25f;
  static constexpr auto halves = halves_of(iq3_xxs_codes, half_count);
};
struct LatticeIQ3_S : Quads<BlockIQ3_S, PointSigns::free> {
  static constexpr std::array<float, 8> levels = {1, 3, 5, 7, 9, 11, 13, 15};
  static constexpr float unit = 1.0f;
  static constexpr auto halves = halves_of(iq3_s_codes, half_count);
};

template <class BlockType, std::size_t group>
struct Shifted : LatticeOf<BlockType, group, PointSigns::shifted> {
  static constexpr std::size_t point_elements = 8;
  static constexpr std::size_t half_count = 81;
  static constexpr std::array<float, 3> levels = {-1.0f, 0.0f, 1.0f};
  static constexpr float unit = 1.0f;
  static constexpr float greatest_code = 7.0f;
  static constexpr auto halves = halves_of(iq1_codes, half_count);
};
struct LatticeIQ1_S : Shifted<BlockIQ1_S, 32> {
  static constexpr std::size_t shift_octets = 4;  ///< The number of octets with one shift.
  static constexpr std::size_t tries = 7;
  // The range goes up to 6.5, as with very different importances the value of the largest magnitude
  // often matters little.
  static constexpr PointTries range = {0.7f, 1.45f};
};
struct LatticeIQ1_M : Shifted<BlockIQ1_M, 16> {
  static constexpr std::size_t shift_octets = 1;
  static constexpr std::size_t tries = 3;            // each is a walk over 4096 points
  static constexpr PointTries range = {1.0f, 1.9f};  // tries up to 3.6
};

/// An octet, or a quad of IQ3_S: the unit with points of its own. IQ3_XXS counts the signs of two
/// quads together.
template <class Lanes, class Lattice>
class PointUnit {
 public:
  using Floats = typename Lanes::Floats;
  using Pick = PointPick<Lanes>;
  static constexpr std::size_t points =
      Lattice::signs == PointSigns::even ? 8 / Lattice::point_elements : 1;
  static constexpr std::size_t elements = points * Lattice::point_elements;

  HWY_INLINE PointUnit() : odd_(Lanes::Set(0.0f)) {}

  HWY_INLINE void Build(Rows<Lanes> x, Rows<Lanes> w) {
    const Floats one = Lanes::Set(1.0f);
    const Floats zero = Lanes::Set(0.0f);
    if constexpr (Lattice::signs == PointSigns::even) {
      auto sign = one;
      for (std::size_t i = 0; i < 8; ++i) {
        sign = sign * Lanes::Select(Lanes::Less(x[i], zero), Lanes::Set(-1.0f), one);
      }
      odd_ = Lanes::Select(Lanes::Less(sign, zero), one, zero);
    }
    for (std::size_t p = 0; p < points; ++p) {
      const std::size_t first = p * Lattice::point_elements;
      tables_[p].Build(x.From(first), w.From(first), points == 2 ? one : odd_);
    }
  }

  /// The best points at some scales. `picks[j]` holds the sums over the points of the unit, and
  /// `ranks` the rank of each.
  template <std::size_t tries>
  HWY_INLINE void Find(const Floats* scales, Pick* picks, Floats (*ranks)[2]) const {
    if constexpr (points == 2) {
      FindPair<tries>(scales, picks, ranks);
      return;
    }
    if constexpr (Lattice::signs == PointSigns::even) {
      tables_[0].template Find<PointScan::one_wrong, tries>(scales, picks);
    } else {
      tables_[0].template Find<PointScan::plain, tries>(scales, picks);
    }
    for (std::size_t j = 0; j < tries; ++j) ranks[j][0] = picks[j].rank;
  }

 private:
  /// Finds points of two quads: if the number of minus signs is odd, one sign is wrong in the first
  /// or in the second.
  template <std::size_t tries>
  HWY_INLINE void FindPair(const Floats* scales, Pick* picks, Floats (*ranks)[2]) const {
    Pick right[2][tries];
    Pick wrong[2][tries];
    for (std::size_t p = 0; p < 2; ++p) {
      tables_[p].template Find<PointScan::plain, tries>(scales, right[p]);
      tables_[p].template Find<PointScan::one_wrong, tries>(scales, wrong[p]);
    }
    const auto is_odd = Lanes::Less(Lanes::Set(0.0f), odd_);
    for (std::size_t j = 0; j < tries; ++j) {
      const auto is_first =
          Lanes::Less(wrong[0][j].value + right[1][j].value, right[0][j].value + wrong[1][j].value);
      const auto is_first_wrong = Lanes::Both(is_odd, is_first);
      const auto is_second_wrong =
          Lanes::Less(Lanes::Set(0.5f), Lanes::Select(is_first, Lanes::Set(0.0f), odd_));
      Pick chosen[2] = {right[0][j], right[1][j]};
      Take(is_first_wrong, wrong[0][j], chosen[0]);
      Take(is_second_wrong, wrong[1][j], chosen[1]);
      picks[j] = {chosen[0].value + chosen[1].value, chosen[0].product + chosen[1].product,
                  chosen[0].square + chosen[1].square, chosen[0].rank};
      ranks[j][0] = chosen[0].rank;
      ranks[j][1] = chosen[1].rank;
    }
  }

  static HWY_INLINE void Take(typename Lanes::Mask mask, const Pick& from, Pick& to) {
    to.value = Lanes::Select(mask, from.value, to.value);
    to.product = Lanes::Select(mask, from.product, to.product);
    to.square = Lanes::Select(mask, from.square, to.square);
    to.rank = Lanes::Select(mask, from.rank, to.rank);
  }

  PointTables<Lanes, Lattice> tables_[points];
  Floats odd_;  ///< 1 in lanes with an odd number of minus signs.
};

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
