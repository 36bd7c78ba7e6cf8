// SPDX-License-Identifier: MIT
// The types whose codes are points of a lattice: IQ1_S to IQ3_S.
#define HWY_TARGET_INCLUDE "codec/best/point_best_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/best/point_units_inl.hpp"
#include "codec/best/shifted_units_inl.hpp"
#include "codec/blocks/points.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

/// The scale of the super-block, those of its groups, and the points.
template <class Lanes, class Lattice>
class PointSearch {
 public:
  using Floats = typename Lanes::Floats;
  static constexpr bool is_shifted = Lattice::signs == PointSigns::shifted;
  using Unit =
      std::conditional_t<is_shifted, ShiftedUnit<Lanes, Lattice>, PointUnit<Lanes, Lattice>>;
  using Pick = PointPick<Lanes>;
  static constexpr std::size_t group_count = 256 / Lattice::group_elements;
  static constexpr std::size_t group_units = Lattice::group_elements / Unit::elements;
  static constexpr std::size_t unit_count = 256 / Unit::elements;
  static constexpr std::size_t tries = Lattice::tries;

  HWY_INLINE explicit PointSearch(const LaneBlocks<Lanes, 256>& blocks)
      : x_(blocks.x.All()),
        w_(blocks.w.All()),
        scale_(Lanes::Set(0.0f)),
        error_(Lanes::Set(no_error)) {}

  /// Not inlined, as with sanitizers a compiler takes twice the time for one large function.
  HWY_NOINLINE void Run() {
    Floats largest = Lanes::Set(0.0f);
    for (std::size_t g = 0; g < group_count; ++g) {
      ListGroup(g);
      largest = Lanes::Max(largest, real_[g]);
      codes_.Set(g, Lanes::Set(0.0f));
    }
    constexpr float top = (2.0f * Lattice::greatest_code + 1.0f) * Lattice::unit;
    for (const float factor : {0.75f, 0.85f, 0.95f, 1.05f}) {
      TryScale(largest * Lanes::Set(1.0f / (top * factor)));
    }
    ChoosePoints();
  }

  /// The result of lane `lane`; x and w are the values of its block.
  [[nodiscard]] BlockPoints Found(std::size_t lane, const float* x, const float* w) const {
    BlockPoints found;
    Tile<Lanes, 1> scale;
    scale.Set(0, scale_);
    found.scale = scale.At(0, lane);
    for (std::size_t g = 0; g < group_count; ++g) {
      found.group_codes[g] = static_cast<unsigned>(codes_.IntAt(g, lane));
    }
    for (std::size_t i = 0; i < 256 / Lattice::point_elements; ++i) {
      found.ranks[i] = static_cast<unsigned>(ranks_.IntAt(i, lane));
    }
    for (std::size_t k = 0; k < 32; ++k) {
      if constexpr (is_shifted) {
        found.is_minus[k] = static_cast<unsigned>(minus_.IntAt(k, lane));
      } else {
        found.signs[k] = SignsOf(found, k, x + 8 * k, w + 8 * k);
      }
    }
    return found;
  }

 private:
  /// The candidates of the units of a group: the best points at some scales, of which the best at
  /// any other is one with few exceptions.
  struct Lists {
    Tile<Lanes, group_units * tries> products;
    Tile<Lanes, group_units * tries> squares;
  };

  struct GroupScale {
    Floats scale;
    Floats gain;
  };

  [[nodiscard]] static HWY_INLINE Floats FactorOf(Floats code) {
    return (code + code + Lanes::Set(1.0f)) * Lanes::Set(Lattice::unit);
  }

  /// Makes the lists of a group, and its scale in real numbers.
  HWY_INLINE void ListGroup(std::size_t g) {
    const std::size_t first = g * Lattice::group_elements;
    const Floats magnitude = LargestMagnitude<Lanes>(x_.From(first), Lattice::group_elements);
    Floats scales[tries];
    float t = Lattice::range.first;
    for (std::size_t k = 0; k < tries; ++k, t *= Lattice::range.step) {
      scales[k] = magnitude * Lanes::Set(1.0f / (Lattice::levels.back() * t));
    }
    for (std::size_t u = 0; u < group_units; ++u) ListUnit(first, u, scales);
    const GroupScale up = ScaleOf(lists_[0]);
    real_.Set(g, up.scale);
    typename Lanes::Mask is_down = Lanes::Less(up.gain, up.gain);  // false in all lanes
    if constexpr (has_group_shift) {
      const GroupScale down = ScaleOf(lists_[1]);
      is_down = Lanes::Less(up.gain, down.gain);
      real_.Set(g, Lanes::Select(is_down, down.scale, up.scale));
    }
    for (std::size_t i = 0; i < group_units * tries; ++i) {
      Floats product = lists_[0].products[i];
      Floats square = lists_[0].squares[i];
      if constexpr (has_group_shift) {
        product = Lanes::Select(is_down, lists_[1].products[i], product);
        square = Lanes::Select(is_down, lists_[1].squares[i], square);
      }
      products_.Set(g * group_units * tries + i, product);
      squares_.Set(g * group_units * tries + i, square);
    }
  }

  HWY_INLINE void ListUnit(std::size_t first, std::size_t u, const Floats* scales) {
    unit_.Build(x_.From(first + u * Unit::elements), w_.From(first + u * Unit::elements));
    Pick picks[tries][2];
    FindTries(scales, picks);
    for (std::size_t k = 0; k < tries; ++k) {
      for (std::size_t list = 0; list < (has_group_shift ? 2 : 1); ++list) {
        lists_[list].products.Set(u * tries + k, picks[k][list].product);
        lists_[list].squares.Set(u * tries + k, picks[k][list].square);
      }
    }
  }

  /// The best points of the unit at some scales; where a group has one shift, of each.
  HWY_INLINE void FindTries(const Floats* scales, Pick (*picks)[2]) {
    if constexpr (is_shifted) {
      for (std::size_t k = 0; k < tries; ++k) {
        if constexpr (has_group_shift) {
          unit_.FindEach(scales[k], picks[k]);
        } else {
          picks[k][0] = unit_.FindAny(scales[k]);
        }
      }
    } else {
      Pick found[tries];
      Floats ranks[tries][2];
      constexpr std::size_t half = tries / 2;  // as many as the registers hold
      unit_.template Find<half>(scales, found, ranks);
      unit_.template Find<tries - half>(scales + half, found + half, ranks + half);
      for (std::size_t k = 0; k < tries; ++k) picks[k][0] = found[k];
    }
  }

  /// The real scale at which the lists are best.
  [[nodiscard]] HWY_INLINE GroupScale ScaleOf(const Lists& lists) const {
    GroupScale best = {Lanes::Set(0.0f), Lanes::Set(0.0f)};
    for (std::size_t k = 0; k < tries; ++k) {
      Floats product = Lanes::Set(0.0f);
      Floats square = Lanes::Set(0.0f);
      for (std::size_t u = 0; u < group_units; ++u) {
        product = product + lists.products[u * tries + k];
        square = square + lists.squares[u * tries + k];
      }
      Offer(product, square, best);
    }
    for (int round = 0; round < 3; ++round) {
      Floats product = Lanes::Set(0.0f);
      Floats square = Lanes::Set(0.0f);
      for (std::size_t u = 0; u < group_units; ++u) {
        const Pick pick = PickAt(lists.products.All(), lists.squares.All(), u * tries, best.scale);
        product = product + pick.product;
        square = square + pick.square;
      }
      Offer(product, square, best);
    }
    return best;
  }

  static HWY_INLINE void Offer(Floats product, Floats square, GroupScale& best) {
    const Floats scale = DivideOrZero<Lanes>(product * Lanes::Set(0.5f), square);
    const Floats gain = scale * product;
    const auto is_better = Lanes::Less(best.gain, gain);
    best.scale = Lanes::Select(is_better, scale, best.scale);
    best.gain = Lanes::Select(is_better, gain, best.gain);
  }

  /// The best candidate of a unit.
  [[nodiscard]] static HWY_INLINE Pick PickAt(Rows<Lanes> products, Rows<Lanes> squares,
                                              std::size_t first, Floats scale) {
    const Floats zero = Lanes::Set(0.0f);
    Pick best = {Lanes::Set(no_error), zero, zero, zero};
    for (std::size_t i = first; i < first + tries; ++i) {
      best.Offer({scale * squares[i] - products[i], products[i], squares[i], zero});
    }
    return best;
  }

  /// Group codes for this scale, then the best scale for these codes, three times.
  HWY_INLINE void TryScale(Floats scale) {
    scale = Lanes::RoundHalf(scale);
    FallingError<Lanes> falling;
    for (int round = 0; round < 3; ++round) {
      Floats product = Lanes::Set(0.0f);
      Floats square = Lanes::Set(0.0f);
      Floats total = Lanes::Set(0.0f);
      for (std::size_t g = 0; g < group_count; ++g) {
        total = total + ChooseCode(g, scale, product, square);
      }
      if (!falling.GoesOn(total)) break;
      const auto is_better = falling.IsBelow(error_);
      error_ = Lanes::Select(is_better, total, error_);
      scale_ = Lanes::Select(is_better, scale, scale_);
      for (std::size_t g = 0; g < group_count; ++g) {
        codes_.Set(g, Lanes::Select(is_better, tried_[g], codes_[g]));
      }
      scale = Lanes::RoundHalf(DivideOrZero<Lanes>(product * Lanes::Set(0.5f), square));
    }
  }

  /// The best code of a group near to its real scale. Returns the error less that of zeros, and
  /// adds the sums of the best scale of the super-block.
  HWY_INLINE Floats ChooseCode(std::size_t g, Floats scale, Floats& product, Floats& square) {
    const Floats half = Lanes::Set(0.5f);
    const Floats inverse = DivideOrZero<Lanes>(Lanes::Set(1.0f / Lattice::unit), scale);
    const Floats nearest = Within((real_[g] * inverse - Lanes::Set(1.0f)) * half);
    Floats best = Lanes::Set(0.0f);
    Floats best_product = Lanes::Set(0.0f);
    Floats best_square = Lanes::Set(0.0f);
    Floats error = Lanes::Set(no_error);
    for (int step = -1; step <= 1; ++step) {
      const Floats code = Within(nearest + Lanes::Set(static_cast<float>(step)));
      const Floats group_scale = scale * FactorOf(code);
      Floats next = Lanes::Set(0.0f);
      Floats next_product = Lanes::Set(0.0f);
      Floats next_square = Lanes::Set(0.0f);
      for (std::size_t u = 0; u < group_units; ++u) {
        const Pick pick =
            PickAt(products_.All(), squares_.All(), (g * group_units + u) * tries, group_scale);
        next = next + group_scale * pick.value;
        next_product = next_product + pick.product;
        next_square = next_square + pick.square;
      }
      const auto is_better = Lanes::Less(next, error);
      best = Lanes::Select(is_better, code, best);
      best_product = Lanes::Select(is_better, next_product, best_product);
      best_square = Lanes::Select(is_better, next_square, best_square);
      error = Lanes::Select(is_better, next, error);
    }
    tried_.Set(g, best);
    const Floats factor = FactorOf(best);
    product = product + factor * best_product;
    square = square + factor * factor * best_square;
    return error;
  }

  static HWY_INLINE Floats Within(Floats value) {
    return RoundWithin<Lanes>(value, Lanes::Set(0.0f), Lanes::Set(Lattice::greatest_code));
  }

  /// The best of all points for the scales that are chosen, and the best scale for these.
  HWY_INLINE void ChoosePoints() {
    Floats product = Lanes::Set(0.0f);
    Floats square = Lanes::Set(0.0f);
    for (std::size_t g = 0; g < group_count; ++g) {
      const Floats factor = FactorOf(codes_[g]);
      const Floats zero = Lanes::Set(0.0f);
      Pick sum[2] = {{zero, zero, zero, zero}, {zero, zero, zero, zero}};
      for (std::size_t u = 0; u < group_units; ++u) {
        ChooseUnit(g * group_units + u, scale_ * factor, sum);
      }
      if constexpr (has_group_shift) ChooseShift(g, sum);
      product = product + factor * sum[0].product;
      square = square + factor * factor * sum[0].square;
    }
    const Floats scale = Lanes::RoundHalf(DivideOrZero<Lanes>(product * Lanes::Set(0.5f), square));
    scale_ = Lanes::Select(Lanes::Less(Lanes::Set(0.0f), scale), scale, scale_);
  }

  HWY_INLINE void ChooseUnit(std::size_t u, Floats group_scale, Pick* sum) {
    unit_.Build(x_.From(u * Unit::elements), w_.From(u * Unit::elements));
    Pick picks[2];
    if constexpr (has_group_shift) {
      unit_.FindEach(group_scale, picks);
      ranks_.Set(u, picks[0].rank);
      down_ranks_.Set(u, picks[1].rank);
    } else if constexpr (is_shifted) {
      picks[0] = unit_.FindAny(group_scale);
      const Floats count = Lanes::Set(static_cast<float>(Unit::point_count));
      const auto is_down = Lanes::Less(count - Lanes::Set(0.5f), picks[0].rank);
      minus_.Set(u, Lanes::Select(is_down, Lanes::Set(1.0f), Lanes::Set(0.0f)));
      ranks_.Set(u, Lanes::Select(is_down, picks[0].rank - count, picks[0].rank));
    } else {
      Floats ranks[1][2];
      unit_.template Find<1>(&group_scale, picks, ranks);
      for (std::size_t p = 0; p < Unit::points; ++p) ranks_.Set(u * Unit::points + p, ranks[0][p]);
    }
    for (std::size_t i = 0; i < (has_group_shift ? 2 : 1); ++i) {
      sum[i].value = sum[i].value + picks[i].value;
      sum[i].product = sum[i].product + picks[i].product;
      sum[i].square = sum[i].square + picks[i].square;
    }
  }

  /// The octets of a group have one shift.
  HWY_INLINE void ChooseShift(std::size_t g, Pick* sum) {
    const auto is_down = Lanes::Less(sum[1].value, sum[0].value);
    sum[0].Offer(sum[1]);
    for (std::size_t u = g * group_units; u < (g + 1) * group_units; ++u) {
      minus_.Set(u, Lanes::Select(is_down, Lanes::Set(1.0f), Lanes::Set(0.0f)));
      ranks_.Set(u, Lanes::Select(is_down, down_ranks_[u], ranks_[u]));
    }
  }

  /// The signs of an octet; where their number has to be even, that of the weight is wrong for
  /// which this costs least.
  [[nodiscard]] static unsigned SignsOf(const BlockPoints& found, std::size_t octet, const float* x,
                                        const float* w) {
    unsigned signs = 0;
    std::size_t cheapest = 0;
    float least = no_error;
    for (std::size_t i = 0; i < 8; ++i) {
      signs |= (x[i] < 0.0f ? 1u : 0u) << i;
      constexpr std::size_t size = Lattice::point_elements;
      const std::size_t rank = found.ranks[(8 * octet + i) / size];
      std::size_t half =
          i % size < size / 2 ? Lattice::halves.low[rank] : Lattice::halves.high[rank];
      for (std::size_t digit = i % (size / 2); digit > 0; --digit) half /= Lattice::levels.size();
      const float cost = w[i] * std::fabs(x[i]) * Lattice::levels[half % Lattice::levels.size()];
      if (cost < least) {
        least = cost;
        cheapest = i;
      }
    }
    const bool is_odd = std::popcount(signs) % 2 != 0;
    return Lattice::signs == PointSigns::even && is_odd ? signs ^ 1u << cheapest : signs;
  }

  static constexpr bool has_group_shift = [] {
    if constexpr (is_shifted) {
      return Lattice::shift_octets > 1;
    } else {
      return false;
    }
  }();

  Rows<Lanes> x_;
  Rows<Lanes> w_;
  Floats scale_;
  Floats error_;
  Unit unit_;
  Lists lists_[2];
  Tile<Lanes, unit_count * tries> products_;
  Tile<Lanes, unit_count * tries> squares_;
  Tile<Lanes, group_count> real_;
  Tile<Lanes, group_count> tried_;
  Tile<Lanes, group_count> codes_;
  Tile<Lanes, 256 / Lattice::point_elements> ranks_;
  Tile<Lanes, 32> down_ranks_;
  Tile<Lanes, 32> minus_;
};

template <class Lattice>
struct SearchPoints {
  using Block = typename Lattice::Block;
  static constexpr std::size_t block_elements = 256;

  template <class Lanes>
  static HWY_INLINE void Run(const LaneBlocks<Lanes, 256>& blocks, Block* dst) {
    PointSearch<Lanes, Lattice> search(blocks);
    search.Run();
    for (std::size_t lane = 0; lane < blocks.used; ++lane) {
      dst[lane] = block_of<Block>(
          search.Found(lane, blocks.first_x + 256 * lane, blocks.first_w + 256 * lane));
    }
  }
};

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_SEARCH(iq2_xxs, SearchPoints<LatticeIQ2_XXS>)
INGOT_SEARCH(iq2_xs, SearchPoints<LatticeIQ2_XS>)
INGOT_SEARCH(iq2_s, SearchPoints<LatticeIQ2_S>)
INGOT_SEARCH(iq3_xxs, SearchPoints<LatticeIQ3_XXS>)
INGOT_SEARCH(iq3_s, SearchPoints<LatticeIQ3_S>)
INGOT_SEARCH(iq1_s, SearchPoints<LatticeIQ1_S>)
INGOT_SEARCH(iq1_m, SearchPoints<LatticeIQ1_M>)
