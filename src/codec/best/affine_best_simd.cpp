// SPDX-License-Identifier: MIT
// Types with a scale and a minimum: Q4_1 and Q5_1, and the super-blocks of Q2_K, Q4_K and Q5_K.
#define HWY_TARGET_INCLUDE "codec/best/affine_best_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/best/lines_inl.hpp"
#include "codec/encode/packing.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

/// The binary16 above (step 1) or below (step -1); a small number may round to itself.
template <class Lanes>
HWY_INLINE typename Lanes::Floats HalfNear(typename Lanes::Floats half, int step) {
  return Lanes::RoundHalf(half + half * Lanes::Set(static_cast<float>(step) * 0.7f / 1024.0f));
}

/// The search for Q4_1 and Q5_1.
template <class BlockType, int max_code, int first_percent>
struct SearchLine {
  using Block = BlockType;
  static constexpr std::size_t block_elements = 32;

  template <class Lanes>
  static HWY_INLINE void Run(const LaneBlocks<Lanes, 32>& blocks, Block* dst) {
    using Floats = typename Lanes::Floats;
    const ValueGroup<Lanes> group(blocks.x.All(), blocks.w.All(), 32);
    const Line<Lanes> line = FindLine<Lanes>(
        group, {max_code, 0.01f * static_cast<float>(first_percent), 1.02f, 2, true});
    const Floats scale = Lanes::RoundHalf(line.scale);
    const Floats minimum = Lanes::RoundHalf(line.minimum);
    Tile<Lanes, 2> found;
    Floats error = Lanes::Set(no_error);
    for (int i = -1; i <= 1; ++i) {
      for (int j = -1; j <= 1; ++j) {
        const Floats next_scale = HalfNear<Lanes>(scale, i);
        const Floats next_minimum = HalfNear<Lanes>(minimum, j);
        const Floats next =
            LineError<Lanes>(group.x, group.w, 32, next_scale, next_minimum, max_code);
        const auto is_better = Lanes::Less(next, error);
        const bool is_first = i == -1 && j == -1;
        error = Lanes::Select(is_better, next, error);
        found.Set(0, is_first ? next_scale : Lanes::Select(is_better, next_scale, found[0]));
        found.Set(1, is_first ? next_minimum : Lanes::Select(is_better, next_minimum, found[1]));
      }
    }
    Tile<Lanes, 32> levels;
    const Floats inverse = DivideOrZero<Lanes>(Lanes::Set(1.0f), found[0]);
    for (std::size_t i = 0; i < 32; ++i) {
      levels.Set(i, CodeOf<Lanes>(group.x[i], found[1], inverse,
                                  Lanes::Set(static_cast<float>(max_code))));
    }
    for (std::size_t lane = 0; lane < blocks.used; ++lane) {
      put_f16(dst[lane].scale.data(), found.At(0, lane));
      put_f16(dst[lane].minimum.data(), found.At(1, lane));
      Codes<32> codes;
      for (std::size_t i = 0; i < 32; ++i) {
        codes[i] = static_cast<std::uint8_t>(levels.IntAt(i, lane));
      }
      put_codes(codes, dst[lane]);
    }
  }
};

/// The differences between the super-blocks.
struct LinesQ2_K {
  using Block = BlockQ2_K;
  static constexpr std::size_t group_elements = 16;
  static constexpr AffineSearch search = {3, 0.55f, 1.1f, 3, false};
  static constexpr float top = 15.0f;  ///< The largest integer for the scale and the minimum of a
                                       ///< group.
  static constexpr int reach = 1;
  static constexpr float scale_factors[] = {1.0f, 0.85f};
  static constexpr float minimum_factors[] = {1.0f, 0.85f};
};
template <class BlockType, int max_code, int first_percent>
struct LinesK45 {
  using Block = BlockType;
  static constexpr std::size_t group_elements = 32;
  static constexpr AffineSearch search = {max_code, 0.01f * static_cast<float>(first_percent),
                                          1.02f, 2, false};
  static constexpr float top = 63.0f;
  static constexpr int reach = 2;
  static constexpr float scale_factors[] = {1.0f, 0.93f, 0.86f};
  static constexpr float minimum_factors[] = {1.0f, 0.9f};
};

/// Improves scale and minimum of a super-block, and the integers of its groups, in turns.
template <class Lanes, class Type>
class GroupLines {
 public:
  using Floats = typename Lanes::Floats;
  static constexpr std::size_t size = Type::group_elements;
  static constexpr std::size_t group_count = 256 / size;
  static constexpr int max_code = Type::search.max_code;

  HWY_INLINE explicit GroupLines(const LaneBlocks<Lanes, 256>& blocks)
      : x_(blocks.x.All()),
        w_(blocks.w.All()),
        error_(Lanes::Set(no_error)),
        scale_(Lanes::Set(0.0f)),
        minimum_(Lanes::Set(0.0f)) {}

  HWY_INLINE void Run() {
    Floats largest_scale = Lanes::Set(0.0f);
    Floats largest_minimum = Lanes::Set(0.0f);
    for (std::size_t g = 0; g < group_count; ++g) {
      const ValueGroup<Lanes> group = GroupAt(g);
      weights_.Set(g, group.weight);
      products_.Set(g, group.product);
      const Line<Lanes> line = FindLine<Lanes>(group, Type::search);
      real_scales_.Set(g, line.scale);
      real_minimums_.Set(g, Lanes::Set(0.0f) - line.minimum);
      largest_scale = Lanes::Max(largest_scale, real_scales_[g]);
      largest_minimum = Lanes::Max(largest_minimum, real_minimums_[g]);
      scales_.Set(g, Lanes::Set(0.0f));
      minimums_.Set(g, Lanes::Set(0.0f));
    }
    for (const float scale_factor : Type::scale_factors) {
      for (const float minimum_factor : Type::minimum_factors) {
        Try(largest_scale * Lanes::Set(1.0f / (Type::top * scale_factor)),
            largest_minimum * Lanes::Set(1.0f / (Type::top * minimum_factor)));
      }
    }
  }

  HWY_INLINE void Put(std::size_t used, typename Type::Block* dst) {
    Tile<Lanes, 2> halves;
    halves.Set(0, scale_);
    halves.Set(1, minimum_);
    Tile<Lanes, 256> levels;
    const Floats largest = Lanes::Set(static_cast<float>(max_code));
    for (std::size_t g = 0; g < group_count; ++g) {
      const Floats minimum = Lanes::Set(0.0f) - minimum_ * minimums_[g];
      const Floats inverse = DivideOrZero<Lanes>(Lanes::Set(1.0f), scale_ * scales_[g]);
      for (std::size_t i = size * g; i < size * (g + 1); ++i) {
        levels.Set(i, CodeOf<Lanes>(x_[i], minimum, inverse, largest));
      }
    }
    for (std::size_t lane = 0; lane < used; ++lane) {
      put_f16(dst[lane].scale.data(), halves.At(0, lane));
      put_f16(dst[lane].minimum.data(), halves.At(1, lane));
      for (std::size_t g = 0; g < group_count; ++g) {
        put_group(g, static_cast<unsigned>(scales_.IntAt(g, lane)),
                  static_cast<unsigned>(minimums_.IntAt(g, lane)), dst[lane]);
      }
      Codes<256> codes;
      for (std::size_t i = 0; i < 256; ++i) {
        codes[i] = static_cast<std::uint8_t>(levels.IntAt(i, lane));
      }
      put_codes(codes, dst[lane]);
    }
  }

 private:
  /// Sums over all groups: of the best scale d and minimum m for x ~ d * u - m * v.
  struct Normal {
    Floats uu, uv, vv, xu, xv;
    HWY_INLINE Normal()
        : uu(Lanes::Set(0.0f)),
          uv(Lanes::Set(0.0f)),
          vv(Lanes::Set(0.0f)),
          xu(Lanes::Set(0.0f)),
          xv(Lanes::Set(0.0f)) {}
  };

  [[nodiscard]] HWY_INLINE ValueGroup<Lanes> GroupAt(std::size_t g) const {
    return ValueGroup<Lanes>(x_.From(size * g), w_.From(size * g), size);
  }

  HWY_INLINE void Try(Floats scale, Floats minimum) {
    scale = Lanes::RoundHalf(scale);
    minimum = Lanes::RoundHalf(minimum);
    FallingError<Lanes> falling;
    for (int round = 0; round < 3; ++round) {
      Normal normal;
      const Floats total = ChooseGroups(scale, minimum, normal);
      if (!falling.GoesOn(total)) break;
      const auto is_better = falling.IsBelow(error_);
      error_ = Lanes::Select(is_better, total, error_);
      scale_ = Lanes::Select(is_better, scale, scale_);
      minimum_ = Lanes::Select(is_better, minimum, minimum_);
      for (std::size_t g = 0; g < group_count; ++g) {
        scales_.Set(g, Lanes::Select(is_better, tried_scales_[g], scales_[g]));
        minimums_.Set(g, Lanes::Select(is_better, tried_minimums_[g], minimums_[g]));
      }
      const Floats determinant = normal.uu * normal.vv - normal.uv * normal.uv;
      const Floats next_minimum =
          DivideOrZero<Lanes>(normal.xu * normal.uv - normal.xv * normal.uu, determinant);
      const auto is_line = Lanes::Less(Lanes::Set(0.0f), next_minimum);
      scale = Lanes::RoundHalf(Lanes::Select(
          is_line, DivideOrZero<Lanes>(normal.xu * normal.vv - normal.xv * normal.uv, determinant),
          DivideOrZero<Lanes>(normal.xu, normal.uu)));
      minimum = Lanes::RoundHalf(Lanes::Select(is_line, next_minimum, Lanes::Set(0.0f)));
    }
  }

  /// The best integers of each group near to the real ones; returns their error.
  HWY_INLINE Floats ChooseGroups(Floats scale, Floats minimum, Normal& normal) {
    Floats total = Lanes::Set(0.0f);
    const Floats inverse_scale = DivideOrZero<Lanes>(Lanes::Set(1.0f), scale);
    const Floats inverse_minimum = DivideOrZero<Lanes>(Lanes::Set(1.0f), minimum);
    for (std::size_t g = 0; g < group_count; ++g) {
      const Rows<Lanes> x = x_.From(size * g);
      const Rows<Lanes> w = w_.From(size * g);
      const Floats near_scale = Within(real_scales_[g] * inverse_scale);
      const Floats near_minimum = Within(real_minimums_[g] * inverse_minimum);
      Floats best_scale = Lanes::Set(0.0f);
      Floats best_minimum = Lanes::Set(0.0f);
      Floats error = Lanes::Set(no_error);
      for (int step = -Type::reach; step <= Type::reach; ++step) {
        const Floats s = Within(near_scale + Lanes::Set(static_cast<float>(step)));
        const Floats group_scale = scale * s;
        // The minimum that is best for the codes of the nearest one.
        const CodeSums<Lanes> sums = SumCodes<Lanes>(
            x, w, size, group_scale, Lanes::Set(0.0f) - minimum * near_minimum, max_code);
        const Floats wanted =
            DivideOrZero<Lanes>(group_scale * sums.code - products_[g], weights_[g]);
        const Floats z = Within(wanted * inverse_minimum);
        const Floats one = Lanes::Set(1.0f);
        for (const Floats candidate : {near_minimum, z, Within(z + one), Within(z - one)}) {
          const Floats next = LineError<Lanes>(x, w, size, group_scale,
                                               Lanes::Set(0.0f) - minimum * candidate, max_code);
          const auto is_better = Lanes::Less(next, error);
          best_scale = Lanes::Select(is_better, s, best_scale);
          best_minimum = Lanes::Select(is_better, candidate, best_minimum);
          error = Lanes::Select(is_better, next, error);
        }
      }
      tried_scales_.Set(g, best_scale);
      tried_minimums_.Set(g, best_minimum);
      total = total + error;
      AddGroup(g, scale * best_scale, minimum * best_minimum, normal);
    }
    return total;
  }

  HWY_INLINE void AddGroup(std::size_t g, Floats group_scale, Floats group_minimum,
                           Normal& normal) {
    const CodeSums<Lanes> sums =
        SumCodes<Lanes>(x_.From(size * g), w_.From(size * g), size, group_scale,
                        Lanes::Set(0.0f) - group_minimum, max_code);
    const Floats s = tried_scales_[g];
    const Floats z = tried_minimums_[g];
    normal.uu = normal.uu + s * s * sums.square;
    normal.uv = normal.uv + s * z * sums.code;
    normal.vv = normal.vv + z * z * weights_[g];
    normal.xu = normal.xu + s * sums.product;
    normal.xv = normal.xv + z * products_[g];
  }

  static HWY_INLINE Floats Within(Floats value) {
    return RoundWithin<Lanes>(value, Lanes::Set(0.0f), Lanes::Set(Type::top));
  }

  Rows<Lanes> x_;
  Rows<Lanes> w_;
  Floats error_;
  Floats scale_;
  Floats minimum_;
  Tile<Lanes, group_count> weights_;
  Tile<Lanes, group_count> products_;
  Tile<Lanes, group_count> real_scales_;
  Tile<Lanes, group_count> real_minimums_;  ///< The negated minimums: 0 or above.
  Tile<Lanes, group_count> tried_scales_;
  Tile<Lanes, group_count> tried_minimums_;
  Tile<Lanes, group_count> scales_;
  Tile<Lanes, group_count> minimums_;
};

template <class Type>
struct SearchGroupLines {
  using Block = typename Type::Block;
  static constexpr std::size_t block_elements = 256;

  template <class Lanes>
  static HWY_INLINE void Run(const LaneBlocks<Lanes, 256>& blocks, Block* dst) {
    GroupLines<Lanes, Type> search(blocks);
    search.Run();
    search.Put(blocks.used, dst);
  }
};

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_SEARCH(q4_1, SearchLine<BlockQ4_1, 15, 72>)
INGOT_SEARCH(q5_1, SearchLine<BlockQ5_1, 31, 84>)
INGOT_SEARCH(q2_k, SearchGroupLines<LinesQ2_K>)
INGOT_SEARCH(q4_k, SearchGroupLines<LinesK45<BlockQ4_K, 15, 72>>)
INGOT_SEARCH(q5_k, SearchGroupLines<LinesK45<BlockQ5_K, 31, 84>>)
