// SPDX-License-Identifier: MIT
// The best point of a lattice for an octet or a quad, at any scale. Included once per CPU target,
// after hwy/highway.h.
//
// At a scale s > 0, the error of the values x with the point G is
//   sum w x x + s * (s * B - 2 * A),   A = sum w |x| G,   B = sum w G G,
// where neither A nor B depends on s. A point has two halves, of which there are 64 or 81: A and B
// of all points are sums of two entries of tables, and the best point is found in one walk over
// all of them, exactly.

// clang-format off
#if defined(INGOT_CODEC_POINT_TABLES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_POINT_TABLES_INL_HPP
#undef INGOT_CODEC_POINT_TABLES_INL_HPP
#else
#define INGOT_CODEC_POINT_TABLES_INL_HPP
#endif
// clang-format on

#include <hwy/highway.h>

#include "codec/best/best_lanes_inl.hpp"
#include "codec/lattice/lattice.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

/// The ways in which the signs of a lattice's weights are stored.
enum class PointSigns : std::uint8_t {
  free,    ///< There is one sign for each weight.
  even,    ///< Seven of eight signs are stored, as the number of minus signs is even.
  shifted  ///< The levels (IQ1) have the signs; they are shifted by 1/8 up or down.
};

inline constexpr float point_shift = 0.125f;

/// The points of a lattice by rank, as their halves.
template <std::size_t count>
struct PointHalves {
  std::array<std::uint8_t, count> low;
  std::array<std::uint8_t, count> high;
};

template <std::size_t count>
consteval PointHalves<count> halves_of(const std::array<std::uint16_t, count>& codes,
                                       std::size_t half_count) {
  PointHalves<count> halves{};
  for (std::size_t rank = 0; rank < count; ++rank) {
    halves.low[rank] = static_cast<std::uint8_t>(codes[rank] % half_count);
    halves.high[rank] = static_cast<std::uint8_t>(codes[rank] / half_count);
  }
  return halves;
}

/// A point that was found: 2 * A, B, its rank, and s * B - 2 * A.
template <class Lanes>
struct PointPick {
  using Floats = typename Lanes::Floats;
  Floats value;
  Floats product;  ///< 2 * A
  Floats square;   ///< B
  Floats rank;

  HWY_INLINE PointPick() : value(Lanes::Set(0.0f)), product(value), square(value), rank(value) {}
  HWY_INLINE PointPick(Floats v, Floats p, Floats s, Floats r)
      : value(v), product(p), square(s), rank(r) {}

  /// Takes the other point where it is better.
  HWY_INLINE void Offer(const PointPick& other) {
    const auto is_better = Lanes::Less(other.value, value);
    value = Lanes::Select(is_better, other.value, value);
    product = Lanes::Select(is_better, other.product, product);
    square = Lanes::Select(is_better, other.square, square);
    rank = Lanes::Select(is_better, other.rank, rank);
  }
};

/// The tables that count.
enum class PointScan : std::uint8_t {
  plain,
  one_wrong  ///< The table with the cheapest sign wrong.
};

template <class Lanes, class Lattice>
class PointTables {
 public:
  using Floats = typename Lanes::Floats;
  static constexpr std::size_t elements = Lattice::point_elements;
  static constexpr std::size_t half_elements = elements / 2;
  static constexpr std::size_t level_count = Lattice::levels.size();
  static constexpr std::size_t half_count = Lattice::half_count;

  /// `wrong_sign` is the cost of the wrong sign of a weight, in units of 4 * A: 1, or 0 for lanes
  /// whose signs are even.
  HWY_INLINE void Build(Rows<Lanes> x, Rows<Lanes> w, Floats wrong_sign) {
    for (std::size_t half = 0; half < 2; ++half) {
      products_[half].Set(0, Lanes::Set(0.0f));
      squares_[half].Set(0, Lanes::Set(0.0f));
      if constexpr (Lattice::signs == PointSigns::even) others_[half].Set(0, Lanes::Set(no_error));
      std::size_t size = 1;
      for (std::size_t i = half * half_elements; i < (half + 1) * half_elements; ++i) {
        Extend(half, size, x[i], w[i], wrong_sign);
        size *= level_count;
      }
    }
  }

  /// The best points at some scales; their ranks only for a single scale.
  template <PointScan scan, std::size_t tries>
  HWY_INLINE void Find(const Floats* scales, PointPick<Lanes>* picks) const {
    for (std::size_t j = 0; j < tries; ++j) {
      const Floats zero = Lanes::Set(0.0f);
      picks[j] = {Lanes::Set(no_error), zero, zero, zero};
    }
    for (std::size_t rank = 0; rank < Lattice::halves.low.size(); ++rank) {
      const std::size_t low = Lattice::halves.low[rank];
      const std::size_t high = Lattice::halves.high[rank];
      Floats product = products_[0][low] + products_[1][high];
      if constexpr (scan == PointScan::one_wrong) {
        product = product - Lanes::Min(others_[0][low], others_[1][high]);
      }
      const Floats square = squares_[0][low] + squares_[1][high];
      const Floats number = Lanes::Set(static_cast<float>(rank));
      for (std::size_t j = 0; j < tries; ++j) {
        const Floats value = scales[j] * square - product;
        const auto is_better = Lanes::Less(value, picks[j].value);
        picks[j].value = Lanes::Select(is_better, value, picks[j].value);
        picks[j].product = Lanes::Select(is_better, product, picks[j].product);
        // Ranks are needed only for a single scale.
        if (tries == 1) picks[j].rank = Lanes::Select(is_better, number, picks[j].rank);
      }
    }
    // These are not selected above, as the walk over all points takes most of the search's time.
    for (std::size_t j = 0; j < tries; ++j) {
      picks[j].square = DivideOrZero<Lanes>(picks[j].value + picks[j].product, scales[j]);
    }
  }

 private:
  /// Adds an element to the halves so far.
  HWY_INLINE void Extend(std::size_t half, std::size_t size, Floats x, Floats w,
                         Floats wrong_sign) {
    const Floats product = w * Lanes::Abs(x);
    // The lowest level comes last, as its entries are the start of the others.
    for (std::size_t level = level_count; level-- > 0;) {
      const float number = Lattice::levels[level];
      const Floats added = product * Lanes::Set(2.0f * number);
      const Floats added_square = w * Lanes::Set(number * number);
      const Floats added_other = Lanes::Set(2.0f) * added * wrong_sign;
      for (std::size_t i = 0; i < size; ++i) {
        const std::size_t to = i + level * size;
        products_[half].Set(to, products_[half][i] + added);
        squares_[half].Set(to, squares_[half][i] + added_square);
        if constexpr (Lattice::signs == PointSigns::even) {
          others_[half].Set(to, Lanes::Min(others_[half][i], added_other));
        }
      }
    }
  }

  Tile<Lanes, half_count> products_[2];
  Tile<Lanes, half_count> squares_[2];
  /// The cost of the cheapest wrong sign, for even signs.
  Tile<Lanes, half_count> others_[2];
};

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
