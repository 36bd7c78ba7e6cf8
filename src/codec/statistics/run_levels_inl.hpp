// SPDX-License-Identifier: MIT
// The integers of one run (runs.hpp), from the levels that a decoder has instead of floats.
// Included once per CPU target, after hwy/highway.h.

// clang-format off
#if defined(INGOT_CODEC_RUN_LEVELS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_RUN_LEVELS_INL_HPP
#undef INGOT_CODEC_RUN_LEVELS_INL_HPP
#else
#define INGOT_CODEC_RUN_LEVELS_INL_HPP
#endif
// clang-format on

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "codec/decode/decoding_inl.hpp"
#include "codec/statistics/extremes_inl.hpp"
#include "codec/statistics/runs.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

using SumTag = hn::RepartitionToWide<WordTag>;
using Sums = hn::Vec<SumTag>;

// --- what a RunStore gives decoders instead of floats ------------------------------------------

/// What levels are multiplied by where a run has no groups.
struct One {};

/// What the levels of one group are multiplied by.
struct Multiple {
  Words value;
};

/// use(words, 0) of all 16 levels; or of the first 8, and use(words, 1) of the last.
template <class SomeLevels, class Use>  // Levels; a parameter, so that one branch vanishes
HWY_INLINE void ForEachWords(SomeLevels levels, const Use& use) {
  if constexpr (word_lanes == 16) {
    use(hn::PromoteTo(WordTag(), levels), 0);
  } else {
    use(hn::PromoteTo(WordTag(), hn::LowerHalf(levels)), 0);
    use(hn::PromoteTo(WordTag(), hn::UpperHalf(hn::Half<LevelTag>(), levels)), 1);
  }
}

/// The numbers of 8 or 16 groups.
template <std::size_t groups>
class Multiples {
 public:
  HWY_INLINE explicit Multiples(Levels numbers) {
    ForEachEight([&](auto part) HWY_ATTR { Keep(Eight<part()>(numbers), 8 * part()); });
    KeepInMemory(pairs_);
  }
  /// Products of the numbers.
  HWY_INLINE Multiples(Levels a, Levels b) {
    ForEachEight([&](auto part)
                     HWY_ATTR { Keep(hn::Mul(Eight<part()>(a), Eight<part()>(b)), 8 * part()); });
    KeepInMemory(pairs_);
  }
  [[nodiscard]] HWY_INLINE Multiple operator[](std::size_t group) const {
    const hn::RepartitionToWide<WordTag> i32;
    return {hn::BitCast(WordTag(), hn::Set(i32, pairs_[group]))};
  }
  HWY_INLINE void StoreSquares(std::int32_t* to) const {
    const hn::CappedTag<std::int32_t, 8> i32;
    const auto lower = hn::Set(i32, 0xFFFF);
    for (std::size_t i = 0; i < groups; i += hn::Lanes(i32)) {
      const auto number = hn::And(hn::Load(i32, pairs_ + i), lower);
      hn::Store(hn::Mul(number, number), i32, to + i);
    }
  }

 private:
  using EightTag = hn::CappedTag<std::int16_t, 8>;

  /// use(0) of the first 8 groups, and use(1) of the last.
  template <class Use>
  static HWY_INLINE void ForEachEight(const Use& use) {
    use(std::integral_constant<std::size_t, 0>());
    if constexpr (groups == 16) use(std::integral_constant<std::size_t, 1>());
  }
  template <std::size_t part>
  static HWY_INLINE hn::Vec<EightTag> Eight(Levels numbers) {
    if constexpr (part == 0) {
      return hn::PromoteTo(EightTag(), hn::LowerHalf(numbers));
    } else {
      return hn::PromoteTo(EightTag(), hn::UpperHalf(hn::Half<LevelTag>(), numbers));
    }
  }
  HWY_INLINE void Keep(hn::Vec<EightTag> numbers, std::size_t first) {
    const hn::RepartitionToWide<EightTag> i32;
    const auto low = hn::InterleaveLower(EightTag(), numbers, numbers);
    const auto high = hn::InterleaveUpper(EightTag(), numbers, numbers);
    hn::Store(hn::BitCast(i32, low), i32, pairs_ + first);
    hn::Store(hn::BitCast(i32, high), i32, pairs_ + first + 4);
  }

  // Twice each: filling vectors with 32 bits from memory is a load, with 16 bits a shuffle too.
  HWY_ALIGN std::int32_t pairs_[groups];
};

/// Of one group with a minimum: what the sums of its codes and of their squares are multiplied by.
struct GroupScale {
  Words scale;
  Sums square;
};
struct GroupMinimum {
  Words scaled;  ///< Minimum times scale.
};

template <std::size_t groups>
class GroupMultiples {
 public:
  HWY_INLINE GroupMultiples(Levels scales, Levels minimums)
      : scales_(scales), scaled_minimums_(scales, minimums) {
    scales_.StoreSquares(squares_);
    KeepInMemory(squares_);
  }
  [[nodiscard]] HWY_INLINE GroupScale Scale(std::size_t group) const {
    return {scales_[group].value, hn::Set(SumTag(), squares_[group])};
  }
  [[nodiscard]] HWY_INLINE GroupMinimum Offset(std::size_t group) const {
    return {scaled_minimums_[group].value};
  }

 private:
  Multiples<groups> scales_;
  Multiples<groups> scaled_minimums_;
  HWY_ALIGN std::int32_t squares_[groups];
};

/// codebook[code], times what the factor says, where only the low nibbles of codes count.
template <class Factor>
struct LevelProducts {
  Levels codebook;
  Factor factor;

  template <class Store>
  HWY_INLINE void operator()(Codes codes, float* dst, Store store) const {
    const Levels nibbles = LevelsOf(AndByte(codes, 15));
    StoreScaled(hn::TableLookupBytes(codebook, nibbles), factor, dst, store);
  }
};

/// The low `bits` of codes, with the factors for their group.
template <int bits, class Scale, class Offset>
struct LevelCodes {
  Scale scale;
  Offset offset;

  template <class Store>
  HWY_INLINE void operator()(Codes codes, float* dst, Store store) const {
    StoreAffine(LowBits(codes), scale, offset, dst, store);
  }
  template <class Store>
  HWY_INLINE void operator()(Codes first, Codes last, float* dst, Store store) const {
    StoreAffine(LowBits(first), LowBits(last), scale, offset, dst, store);
  }
  static HWY_INLINE Levels LowBits(Codes codes) {
    return LevelsOf(AndByte(codes, (1 << bits) - 1));
  }
};

HWY_INLINE LevelProducts<One> ProductsOf(const Codebook& codebook, One one) {
  return {hn::LoadU(LevelTag(), codebook.data()), one};
}
HWY_INLINE LevelProducts<Multiple> ProductsOf(const Codebook& codebook, Multiple multiple) {
  return {hn::LoadU(LevelTag(), codebook.data()), multiple};
}
template <int bits>
HWY_INLINE LevelCodes<bits, One, One> AffineOf(One scale, One offset) {
  return {scale, offset};
}
template <int bits>
HWY_INLINE LevelCodes<bits, GroupScale, GroupMinimum> AffineOf(GroupScale scale,
                                                               GroupMinimum offset) {
  return {scale, offset};
}

// --- sums of integers --------------------------------------------------------------------------

/// Sums in 8 lanes: number i of 16 belongs to lane i / 2.
inline constexpr std::size_t sum_parts = 8 / hn::MaxLanes(SumTag());

struct LaneTotals {
  Sums parts[sum_parts];

  HWY_INLINE LaneTotals() {
    for (Sums& part : parts) part = hn::Zero(SumTag());
  }
  /// Adds the products of 16 numbers, or of part of them.
  HWY_INLINE void AddProducts(Words a, Words b, std::size_t part) {
    const auto zero = hn::Zero(SumTag());
#if HWY_ARCH_X86
    auto unused = zero;
    parts[part] = hn::ReorderWidenMulAccumulate(SumTag(), a, b, parts[part], unused);
#else
    auto odd = zero;
    const auto even = hn::ReorderWidenMulAccumulate(SumTag(), a, b, zero, odd);
    parts[part] = hn::Add(parts[part], hn::RearrangeToOddPlusEven(even, odd));
#endif
  }
  /// The same of one part, added to nothing.
  static HWY_INLINE Sums Products(Words a, Words b) {
    LaneTotals totals;
    totals.AddProducts(a, b, 0);
    return totals.parts[0];
  }
  HWY_INLINE void Store(std::int32_t* to) const {
    for (std::size_t i = 0; i < sum_parts; ++i) {
      hn::Store(parts[i], SumTag(), to + i * hn::MaxLanes(SumTag()));
    }
  }
};

// --- a run -------------------------------------------------------------------------------------

/// The sums of a run, while its weights come.
template <RunShape shape>
struct Run {
  static_assert(!shape.has_minimums || shape.largest_level <= 31);  // MayHoldNews

  float unit;
  float minimum;
  LaneTotals t;
  LaneTotals t_squares;
  LaneTotals t_m;  ///< Of t times m; as what follows, where groups have minimums.
  LaneTotals m;
  LaneTotals m_squares;
  Codes nonzeros;      ///< Bytes whose sum is the number of levels that are not 0.
  bool may_hold_news;  ///< Not of short runs, which are asked four at a time.

  HWY_INLINE Run() {}

  HWY_INLINE void Begin(float run_unit, float run_minimum) {
    unit = run_unit;
    minimum = run_minimum;
    may_hold_news = false;
    Continue();
  }
  /// A run with the same scales.
  HWY_INLINE void Continue() {
    t = t_squares = t_m = LaneTotals();
    nonzeros = hn::Zero(CodeTag());
  }

  HWY_INLINE void SetGroups(Levels scales, KnownExtremes known) {
    ForEachFloats([&](auto first) HWY_ATTR {
      const auto scale = hn::Mul(GroupFloats<first()>(scales), hn::Set(GroupTag(), unit));
      Note(MayHoldNews(GroupTag(), scale, shape.largest_level, known));
    });
  }
  HWY_INLINE void SetGroups(Levels scales, Levels minimums, KnownExtremes known) {
    ForEachFloats([&](auto first) HWY_ATTR {
      const auto scale = hn::Mul(GroupFloats<first()>(scales), hn::Set(GroupTag(), unit));
      const auto offset = hn::Mul(GroupFloats<first()>(minimums), hn::Set(GroupTag(), -minimum));
      Note(MayHoldNews(GroupTag(), scale, offset, shape.largest_level, known));
    });
    m = m_squares = LaneTotals();
    ForEachWords(minimums, [&](Words words, std::size_t part) HWY_ATTR {
      m.AddProducts(words, hn::Set(WordTag(), 1), part);
      m_squares.AddProducts(words, words, part);
    });
  }

  HWY_INLINE void Add(Levels levels) {
    CountNonzeros(levels);
    ForEachWords(levels,
                 [&](Words words, std::size_t part) HWY_ATTR { AddMultiples(words, part); });
  }
  HWY_INLINE void Add(Levels levels, Multiple scale) {
    CountNonzeros(levels);
    ForEachWords(levels, [&](Words level, std::size_t part)
                             HWY_ATTR { AddMultiples(hn::Mul(level, scale.value), part); });
  }
  HWY_INLINE void Add(Levels codes, GroupScale scale, GroupMinimum group_minimum) {
    ForEachWords(codes, [&](Words words, std::size_t) HWY_ATTR {
      AddSums(words, scale, group_minimum);
      AddSquares(LaneTotals::Products(words, words), scale);
    });
  }
  HWY_INLINE void Add(Levels first, Levels last, GroupScale scale, GroupMinimum group_minimum) {
    ForEachWords(hn::Add(first, last),
                 [&](Words words, std::size_t) HWY_ATTR { AddSums(words, scale, group_minimum); });
    LaneTotals squares;
    const auto add_products = [&](Words words, std::size_t)
                                  HWY_ATTR { squares.AddProducts(words, words, 0); };
    ForEachWords(first, add_products);
    ForEachWords(last, add_products);
    AddSquares(squares.parts[0], scale);
  }
  /// Of long runs, where it does not matter which lane a weight adds to.
  template <class SomeWords>  // Words; a parameter, so that one branch vanishes
  HWY_INLINE void AddWords(SomeWords levels) {
    static_assert(shape.elements > most_short_run);
    // What is not 0 counts 1 in the lower byte of its word.
    const hn::RebindToUnsigned<WordTag> u16;
    const hn::Repartition<std::uint8_t, WordTag> u8;
    const auto ones = hn::BitCast(u8, hn::Min(hn::BitCast(u16, levels), hn::Set(u16, 1)));
    if constexpr (word_lanes == 16) {
      const auto both = hn::Add(hn::LowerHalf(ones), hn::UpperHalf(CodeTag(), ones));
      nonzeros = hn::Add(nonzeros, both);
    } else {
      nonzeros = hn::Add(nonzeros, ones);
    }
    AddMultiples(levels, 0);
  }

 private:
  using GroupTag = hn::CappedTag<float, shape.groups == 8 ? 8 : 16>;

  HWY_INLINE void Note(hn::Mask<GroupTag> news) {
    may_hold_news = may_hold_news || !hn::AllFalse(GroupTag(), news);
  }
  HWY_INLINE void AddMultiples(Words multiples, std::size_t part) {
    t.AddProducts(multiples, hn::Set(WordTag(), 1), part);
    t_squares.AddProducts(multiples, multiples, part);
  }
  /// Sums of codes of a group.
  HWY_INLINE void AddSums(Words codes, GroupScale scale, GroupMinimum group_minimum) {
    t.AddProducts(codes, scale.scale, 0);
    t_m.AddProducts(codes, group_minimum.scaled, 0);
  }
  HWY_INLINE void AddSquares(Sums squares, GroupScale scale) {
    t_squares.parts[0] = hn::Add(t_squares.parts[0], hn::Mul(squares, scale.square));
  }
  HWY_INLINE void CountNonzeros(Levels levels) {
    if constexpr (!shape.has_minimums) {
      const auto ones = hn::Min(hn::BitCast(CodeTag(), levels), hn::Set(CodeTag(), 1));
      nonzeros = hn::Add(nonzeros, ones);
    }
  }
  /// Numbers of groups first, first + 1, ...
  template <std::size_t first>
  static HWY_INLINE auto GroupFloats(Levels numbers) {
    if constexpr (hn::MaxLanes(GroupTag()) < float_lanes) {
      const hn::RebindToSigned<GroupTag> i32;
      return hn::ConvertTo(GroupTag(), hn::PromoteTo(i32, hn::LowerHalf(numbers)));
    } else {
      return FloatsOf<first>(numbers);
    }
  }
  /// use(first), for the first of each vector of groups.
  template <std::size_t first = 0, class Use>
  static HWY_INLINE void ForEachFloats(const Use& use) {
    use(std::integral_constant<std::size_t, first>());
    constexpr std::size_t next = first + hn::MaxLanes(GroupTag());
    if constexpr (next < shape.groups) ForEachFloats<next>(use);
  }
};

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
