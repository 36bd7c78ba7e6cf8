// SPDX-License-Identifier: MIT
// The best point of IQ1_S and IQ1_M for an octet, whose levels are shifted by 1/8 up or down.
// Included once per CPU target, after hwy/highway.h.
//
// There are 2048 points of each shift. So that a walk over all of them does little for each, the
// error at a scale is made for the 81 halves first, and only the rank of the best is kept.

// clang-format off
#if defined(INGOT_CODEC_SHIFTED_UNITS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_SHIFTED_UNITS_INL_HPP
#undef INGOT_CODEC_SHIFTED_UNITS_INL_HPP
#else
#define INGOT_CODEC_SHIFTED_UNITS_INL_HPP
#endif
// clang-format on

#include <hwy/highway.h>

#include "codec/best/point_tables_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

template <class Lanes, class Lattice>
class ShiftedUnit {
 public:
  using Floats = typename Lanes::Floats;
  using Pick = PointPick<Lanes>;
  static constexpr std::size_t points = 1;
  static constexpr std::size_t elements = Lattice::point_elements;
  static constexpr std::size_t point_count = Lattice::halves.low.size();

  HWY_INLINE void Build(Rows<Lanes> x, Rows<Lanes> w) {
    for (std::size_t shift = 0; shift < 2; ++shift) {
      for (std::size_t half = 0; half < 2; ++half) {
        products_[shift][half].Set(0, Lanes::Set(0.0f));
        squares_[shift][half].Set(0, Lanes::Set(0.0f));
        std::size_t size = 1;
        for (std::size_t i = half * half_elements; i < (half + 1) * half_elements; ++i) {
          Extend(shift, half, size, x[i], w[i]);
          size *= Lattice::levels.size();
        }
      }
    }
  }

  /// The best point of each shift at a scale: up, down.
  HWY_INLINE void FindEach(Floats scale, Pick (&picks)[2]) {
    MakeErrors(scale);
    Floats number = Lanes::Set(0.0f);
    for (Pick& pick : picks) pick = {Lanes::Set(no_error), number, number, number};
    for (std::size_t rank = 0; rank < point_count; ++rank) {
      for (std::size_t shift = 0; shift < 2; ++shift)
        Keep(ErrorOf(shift, rank), number, picks[shift]);
      number = number + Lanes::Set(1.0f);
    }
    for (std::size_t shift = 0; shift < 2; ++shift) AddSums(shift, picks[shift]);
  }

  /// The best point of both shifts at a scale. The rank of one that is shifted down is
  /// point_count higher.
  HWY_INLINE Pick FindAny(Floats scale) {
    MakeErrors(scale);
    const Floats zero = Lanes::Set(0.0f);
    Floats number = zero;
    // Even and odd ranks are compared separately, so that the comparisons do not wait for one
    // another.
    Pick best = {Lanes::Set(no_error), zero, zero, zero};
    Pick odd = best;
    for (std::size_t rank = 0; rank < point_count; rank += 2) {
      Keep(Lanes::Min(ErrorOf(0, rank), ErrorOf(1, rank)), number, best);
      Keep(Lanes::Min(ErrorOf(0, rank + 1), ErrorOf(1, rank + 1)), number, odd);
      number = number + Lanes::Set(2.0f);
    }
    odd.rank = odd.rank + Lanes::Set(1.0f);
    best.Offer(odd);
    Pick down = best;
    AddSums(0, best);
    AddSums(1, down);
    const auto is_up =
        Lanes::Less(scale * best.square - best.product, scale * down.square - down.product);
    down.rank = down.rank + Lanes::Set(static_cast<float>(point_count));
    best.product = Lanes::Select(is_up, best.product, down.product);
    best.square = Lanes::Select(is_up, best.square, down.square);
    best.rank = Lanes::Select(is_up, best.rank, down.rank);
    return best;
  }

 private:
  static constexpr std::size_t half_elements = elements / 2;
  static constexpr std::size_t half_count = Lattice::half_count;
  using Halves = Tile<Lanes, half_count>;

  /// Adds an element to the halves so far. The lowest level comes last, as its entries are the
  /// start of the others.
  HWY_INLINE void Extend(std::size_t shift, std::size_t half, std::size_t size, Floats x,
                         Floats w) {
    Halves& products = products_[shift][half];
    Halves& squares = squares_[shift][half];
    for (std::size_t level = Lattice::levels.size(); level-- > 0;) {
      const float number = Lattice::levels[level] + (shift == 0 ? point_shift : -point_shift);
      const Floats added = w * x * Lanes::Set(2.0f * number);
      const Floats added_square = w * Lanes::Set(number * number);
      for (std::size_t i = 0; i < size; ++i) {
        products.Set(i + level * size, products[i] + added);
        squares.Set(i + level * size, squares[i] + added_square);
      }
    }
  }

  HWY_INLINE void MakeErrors(Floats scale) {
    for (std::size_t shift = 0; shift < 2; ++shift) {
      for (std::size_t half = 0; half < 2; ++half) {
        for (std::size_t i = 0; i < half_count; ++i) {
          errors_[shift][half].Set(i, scale * squares_[shift][half][i] - products_[shift][half][i]);
        }
      }
    }
  }

  [[nodiscard]] HWY_INLINE Floats ErrorOf(std::size_t shift, std::size_t rank) const {
    return errors_[shift][0][Lattice::halves.low[rank]] +
           errors_[shift][1][Lattice::halves.high[rank]];
  }

  static HWY_INLINE void Keep(Floats error, Floats number, Pick& best) {
    best.rank = Lanes::Select(Lanes::Less(error, best.value), number, best.rank);
    best.value = Lanes::Min(error, best.value);
  }

  /// The sums of the points that were found, which differ between lanes.
  HWY_INLINE void AddSums(std::size_t shift, Pick& pick) const {
    Tile<Lanes, 3> found;
    found.Set(0, pick.rank);
    for (std::size_t lane = 0; lane < Lanes::count; ++lane) {
      const auto rank = static_cast<std::size_t>(found.IntAt(0, lane));
      const std::size_t low = Lattice::halves.low[rank];
      const std::size_t high = Lattice::halves.high[rank];
      const auto sum_of = [&](const Halves(&halves)[2]) {
        return halves[0].At(low, lane) + halves[1].At(high, lane);
      };
      found.values[Lanes::count + lane] = sum_of(products_[shift]);
      found.values[2 * Lanes::count + lane] = sum_of(squares_[shift]);
    }
    pick.product = found[1];
    pick.square = found[2];
  }

  Halves products_[2][2];  ///< 2 * A of the halves of points, by shift and half.
  Halves squares_[2][2];   ///< B
  Halves errors_[2][2];    ///< s * B - 2 * A at the present scale.
};

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
