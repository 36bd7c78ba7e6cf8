// SPDX-License-Identifier: MIT
// Super-blocks of groups with small integer scales and without minimums: Q3_K, Q6_K, IQ4_XS.
#define HWY_TARGET_INCLUDE "codec/best/group_scale_best_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/best/one_scale_inl.hpp"
#include "codec/encode/packing.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

/// The sum of w * e * e of a group at a scale.
template <class Lanes, class Levels>
HWY_INLINE typename Lanes::Floats GroupError(Rows<Lanes> x, Rows<Lanes> w, std::size_t count,
                                             typename Lanes::Floats scale) {
  const auto inverse = DivideOrZero<Lanes>(Lanes::Set(1.0f), scale);
  auto error = Lanes::Set(0.0f);
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = x[i];
    const auto level = Levels::template Nearest<Lanes>(value * inverse);
    const auto difference = value - scale * level;
    error = error + w[i] * difference * difference;
  }
  return error;
}

/// Q3_K, Q6_K and IQ4_XS: how their groups look, and where the search looks.
struct GroupsQ3_K {
  using Block = BlockQ3_K;
  using Levels = UniformLevels<-4, 3>;
  using Codes = LevelOffset<4>;
  static constexpr std::size_t group_elements = 16;
  static constexpr float top = 32.0f;  ///< The limit of group scales: -top to top - 1.
  static constexpr int reach = 1;
  static constexpr bool has_both_signs = true;  // tries both signs of the super-block's scale
  static constexpr ScaleTries tries[] = {{4.0f * 0.55f, 4.0f * 1.3f, 12}};
  static constexpr float factors[] = {0.7f, 0.8f, 0.9f, 1.0f};
};
struct GroupsQ6_K {
  using Block = BlockQ6_K;
  using Levels = UniformLevels<-32, 31>;
  using Codes = LevelOffset<32>;
  static constexpr std::size_t group_elements = 16;
  static constexpr float top = 128.0f;
  static constexpr int reach = 2;
  static constexpr bool has_both_signs = false;
  static constexpr ScaleTries tries[] = {{32.0f * 0.86f, 32.0f * 1.04f, 12}};
  static constexpr float factors[] = {0.8f, 0.9f, 1.0f};
};
struct GroupsIQ4_XS {
  using Block = BlockIQ4_XS;
  using Levels = Iq4Levels;
  using Codes = Iq4Codes;
  static constexpr std::size_t group_elements = 32;
  static constexpr float top = 32.0f;
  static constexpr int reach = 1;
  static constexpr bool has_both_signs = false;
  static constexpr ScaleTries tries[] = {{127.0f * 0.75f, 127.0f * 1.06f, 12}};
  static constexpr float factors[] = {0.8f, 0.9f, 1.0f};
};

/// The scale of the super-block and those of its groups, by turns.
template <class Lanes, class Type>
class GroupScales {
 public:
  using Floats = typename Lanes::Floats;
  static constexpr std::size_t size = Type::group_elements;
  static constexpr std::size_t group_count = 256 / size;

  HWY_INLINE explicit GroupScales(const LaneBlocks<Lanes, 256>& blocks)
      : x_(blocks.x.All()),
        w_(blocks.w.All()),
        scale_(Lanes::Set(0.0f)),
        error_(Lanes::Set(no_error)),
        total_(Lanes::Set(no_error)) {}

  HWY_INLINE void Run() {
    Floats extreme = Lanes::Set(0.0f);
    for (std::size_t g = 0; g < group_count; ++g) {
      real_.Set(g, FindScale<Lanes, typename Type::Levels>(x_.From(size * g), w_.From(size * g),
                                                           size, Type::tries, true));
      found_.Set(g, Lanes::Set(0.0f));
      const auto is_larger = Lanes::Less(Lanes::Abs(extreme), Lanes::Abs(real_[g]));
      extreme = Lanes::Select(is_larger, real_[g], extreme);
    }
    for (const float factor : Type::factors) {
      const Floats scale = extreme * Lanes::Set(-1.0f / (Type::top * factor));
      Try(scale);
      if (Type::has_both_signs) Try(Lanes::Set(0.0f) - scale);
    }
  }

  /// The scale of the super-block.
  [[nodiscard]] HWY_INLINE Floats scale() const { return scale_; }
  /// The scales of the groups: small integers.
  [[nodiscard]] HWY_INLINE const Tile<Lanes, group_count>& groups() const { return found_; }

 private:
  /// Groups for this scale, then the best scale for these groups, three times.
  HWY_INLINE void Try(Floats scale) {
    scale = Lanes::RoundHalf(scale);
    FallingError<Lanes> falling;
    for (int round = 0; round < 3; ++round) {
      const LevelSums<Lanes> sums = ChooseGroups(scale);
      if (!falling.GoesOn(total_)) break;
      const auto is_better = falling.IsBelow(error_);
      error_ = Lanes::Select(is_better, total_, error_);
      scale_ = Lanes::Select(is_better, scale, scale_);
      for (std::size_t g = 0; g < group_count; ++g) {
        found_.Set(g, Lanes::Select(is_better, tried_[g], found_[g]));
      }
      scale = Lanes::RoundHalf(DivideOrZero<Lanes>(sums.product, sums.square));
    }
  }

  /// The best scale of each group near to the real one; `total_` is their error.
  HWY_INLINE LevelSums<Lanes> ChooseGroups(Floats scale) {
    const Floats zero = Lanes::Set(0.0f);
    const Floats inverse = DivideOrZero<Lanes>(Lanes::Set(1.0f), scale);
    LevelSums<Lanes> sums;
    total_ = zero;
    for (std::size_t g = 0; g < group_count; ++g) {
      const Rows<Lanes> x = x_.From(size * g);
      const Rows<Lanes> w = w_.From(size * g);
      const Floats nearest = Within(real_[g] * inverse);
      Floats best = zero;
      Floats error = Lanes::Set(no_error);
      for (int step = -Type::reach; step <= Type::reach; ++step) {
        const Floats code = Within(nearest + Lanes::Set(static_cast<float>(step)));
        const Floats next = GroupError<Lanes, typename Type::Levels>(x, w, size, scale * code);
        const auto is_better = Lanes::Less(next, error);
        best = Lanes::Select(is_better, code, best);
        error = Lanes::Select(is_better, next, error);
      }
      tried_.Set(g, best);
      total_ = total_ + error;
      const auto measured = MeasureScale<Lanes, typename Type::Levels>(x, w, size, scale * best);
      sums.product = sums.product + best * measured.sums.product;
      sums.square = sums.square + best * best * measured.sums.square;
    }
    return sums;
  }

  /// The nearest scale that a group can have.
  static HWY_INLINE Floats Within(Floats value) {
    return RoundWithin<Lanes>(value, Lanes::Set(-Type::top), Lanes::Set(Type::top - 1.0f));
  }

  Rows<Lanes> x_;
  Rows<Lanes> w_;
  Floats scale_;
  Floats error_;
  Floats total_;
  Tile<Lanes, group_count> real_;
  Tile<Lanes, group_count> tried_;
  Tile<Lanes, group_count> found_;
};

template <class Type>
struct SearchGroupScales {
  using Block = typename Type::Block;
  static constexpr std::size_t block_elements = 256;

  template <class Lanes>
  static HWY_INLINE void Run(const LaneBlocks<Lanes, 256>& blocks, Block* dst) {
    GroupScales<Lanes, Type> search(blocks);
    search.Run();
    constexpr std::size_t size = Type::group_elements;
    Tile<Lanes, 1> scale;
    scale.Set(0, search.scale());
    Tile<Lanes, 256> levels;
    for (std::size_t g = 0; g < 256 / size; ++g) {
      PutLevels<Lanes, typename Type::Levels>(blocks.x.All(), size * g, size,
                                              search.scale() * search.groups()[g], levels);
    }
    for (std::size_t lane = 0; lane < blocks.used; ++lane) {
      put_f16(dst[lane].scale.data(), scale.At(0, lane));
      for (std::size_t g = 0; g < 256 / size; ++g) {
        put_group_scale(g, search.groups().IntAt(g, lane), dst[lane]);
      }
      Codes<256> codes;
      for (std::size_t i = 0; i < 256; ++i) codes[i] = Type::Codes::Of(levels.IntAt(i, lane));
      put_codes(codes, dst[lane]);
    }
  }
};

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_SEARCH(q3_k, SearchGroupScales<GroupsQ3_K>)
INGOT_SEARCH(q6_k, SearchGroupScales<GroupsQ6_K>)
INGOT_SEARCH(iq4_xs, SearchGroupScales<GroupsIQ4_XS>)
