// SPDX-License-Identifier: MIT
// The sums of runs (runs.hpp) in vectors. Included once per CPU target, after hwy/highway.h.
//
// A decoder hands its levels to a RunStore, which makes no floats of them. Four runs are a batch,
// whose sums are added up crosswise, one lane a run.

// clang-format off
#if defined(INGOT_CODEC_RUNS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_RUNS_INL_HPP
#undef INGOT_CODEC_RUNS_INL_HPP
#else
#define INGOT_CODEC_RUNS_INL_HPP
#endif
// clang-format on

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "codec/decoding_inl.hpp"
#include "codec/extremes_inl.hpp"
#include "codec/number_sums.hpp"
#include "codec/runs.hpp"

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

// --- sums of weights ---------------------------------------------------------------------------

inline constexpr std::size_t runs_of_batch = 4;

/// Integers of each run of a batch.
using BatchTotals = std::int32_t[runs_of_batch][8];

/// The total of each run.
HWY_INLINE auto AddAcross(const BatchTotals& lanes) {
  const hn::CappedTag<std::int32_t, 4> i32;
  const auto row = [&](std::size_t run) HWY_ATTR {
    return hn::Add(hn::Load(i32, lanes[run]), hn::Load(i32, lanes[run] + 4));
  };
  const auto add = [&](auto a, auto b) HWY_ATTR {
    return hn::Add(hn::InterleaveLower(i32, a, b), hn::InterleaveUpper(i32, a, b));
  };
  const auto low = add(row(0), row(1));
  const auto high = add(row(2), row(3));
  return hn::Add(hn::ConcatLowerLower(i32, high, low), hn::ConcatUpperUpper(i32, high, low));
}

/// One float of each run of a batch.
struct BatchFloats {
  float values[runs_of_batch];

  /// Each loaded as it was stored: all at once would wait for the stores.
  [[nodiscard]] HWY_INLINE auto Load() const {
    const hn::CappedTag<float, runs_of_batch> f32;
    const auto low = hn::InterleaveLower(f32, hn::Set(f32, values[0]), hn::Set(f32, values[1]));
    const auto high = hn::InterleaveLower(f32, hn::Set(f32, values[2]), hn::Set(f32, values[3]));
    return hn::ConcatLowerLower(f32, high, low);
  }
};

/// Adds up runs of 32 weights or less: in 8 lanes of floats. Of n weights in a lane, with the sums
/// of t and t^2, the sum of squares is
///   unit^2 * (t^2 - t * t / n) + (unit * t + n * offset)^2 / n,
/// where nothing cancels out.
template <RunShape shape>
class ShortRunSums {
  static constexpr float lane_elements = static_cast<float>(shape.elements) / 8.0f;

 public:
  HWY_INLINE ShortRunSums() {
    for (std::size_t i = 0; i < sum_parts; ++i) sums_[i] = squares_[i] = hn::Zero(SumFloatTag());
  }

  HWY_INLINE void Set(std::size_t run, const Run<shape>& sums) {
    const SumFloatTag f32;
    units_.values[run] = sums.unit;
    const auto units = hn::Set(f32, sums.unit);
    const auto unit_squares = hn::Mul(units, units);
    for (std::size_t i = 0; i < sum_parts; ++i) {
      const auto t = sums.t.parts[i];
      const auto t_squares = sums.t_squares.parts[i];
      auto sum = hn::Mul(hn::ConvertTo(f32, t), units);
      if constexpr (shape.has_minimums) {
        minimums_.values[run] = sums.minimum;
        sum = hn::Sub(sum, hn::Set(f32, sums.minimum * lane_elements));
        static_assert(lane_elements == 4.0f);
        const auto spread = hn::Sub(hn::ShiftLeft<2>(t_squares), hn::Mul(t, t));
        const auto squares = hn::Mul(hn::ConvertTo(f32, spread), unit_squares);
        squares_[i] = hn::Add(squares_[i], hn::Add(squares, hn::Mul(sum, sum)));
      } else {
        squares_[i] = hn::Add(squares_[i], hn::Mul(hn::ConvertTo(f32, t_squares), unit_squares));
      }
      sums_[i] = hn::Add(sums_[i], sum);
    }
  }

  HWY_INLINE void AddUp(std::size_t) {}

  /// Bit r is set if the floats of run r must be looked at.
  [[nodiscard]] HWY_INLINE unsigned RunsWithNews(KnownExtremes known) const {
    const hn::CappedTag<float, runs_of_batch> f32;
    const auto units = units_.Load();
    std::uint8_t bits[8] = {};
    if constexpr (shape.has_minimums) {
      const auto offsets = hn::Neg(minimums_.Load());
      const auto news = MayHoldNews(f32, units, offsets, shape.largest_level, known);
      hn::StoreMaskBits(f32, news, bits);
    } else {
      const auto news = MayHoldNews(f32, units, shape.largest_level, known);
      hn::StoreMaskBits(f32, news, bits);
    }
    return bits[0];
  }

  HWY_INLINE void AddTo(NumberSums& sums) const {
    sums.sum += Total(sums_);
    sums.squares += shape.has_minimums ? Total(squares_) / lane_elements : Total(squares_);
  }

 private:
  using SumFloatTag = hn::RebindToFloat<SumTag>;
  using SumFloats = hn::Vec<SumFloatTag>;

  static HWY_INLINE double Total(const SumFloats (&parts)[sum_parts]) {
    HWY_ALIGN float lanes[8];
    for (std::size_t i = 0; i < sum_parts; ++i) {
      hn::Store(parts[i], SumFloatTag(), lanes + i * hn::MaxLanes(SumFloatTag()));
    }
    return total_of(lanes);
  }

  SumFloats sums_[sum_parts];
  SumFloats squares_[sum_parts];
  BatchFloats units_ = {};
  BatchFloats minimums_ = {};
};

/// Adds up long runs, a batch at a time: run r adds to double number r % 4.
template <RunShape shape>
class LongRunSums {
 public:
  HWY_INLINE LongRunSums() {}

  HWY_INLINE void Set(std::size_t run, const Run<shape>& sums) {
    units_.values[run] = sums.unit;
    may_hold_news_[run] = sums.may_hold_news;
    sums.t.Store(t_[run]);
    sums.t_squares.Store(t_squares_[run]);
    if constexpr (shape.has_minimums) {
      minimums_.values[run] = sums.minimum;
      sums.t_m.Store(t_m_[run]);
      sums.m.Store(m_[run]);
      sums.m_squares.Store(m_squares_[run]);
    }
  }

  /// Adds up the first `count` runs of a batch.
  HWY_INLINE void AddUp(std::size_t count) {
    for (; count < runs_of_batch; ++count) {
      Run<shape> none;
      none.Begin(0.0f, 0.0f);
      Set(count, none);
    }
    if constexpr (hn::MaxLanes(DoubleTag()) == runs_of_batch) {
      AddRuns(0, [](auto four) HWY_ATTR { return hn::PromoteTo(DoubleTag(), four); });
    } else {
      AddRuns(0,
              [](auto four) HWY_ATTR { return hn::PromoteTo(DoubleTag(), hn::LowerHalf(four)); });
      AddRuns(2, [](auto four) HWY_ATTR {
        const hn::Half<hn::DFromV<decltype(four)>> half;
        return hn::PromoteTo(DoubleTag(), hn::UpperHalf(half, four));
      });
    }
  }

  [[nodiscard]] HWY_INLINE unsigned RunsWithNews(KnownExtremes) const {
    unsigned runs = 0;
    for (std::size_t r = 0; r < runs_of_batch; ++r) runs |= unsigned{may_hold_news_[r]} << r;
    return runs;
  }

  HWY_INLINE void AddTo(NumberSums& sums) const {
    sums.sum += total_of(sums_);
    sums.squares += total_of(squares_);
  }

 private:
  using DoubleTag = hn::CappedTag<double, runs_of_batch>;

  /// Runs first, first + 1, ...: doubles_of makes doubles of their share of four numbers.
  template <class DoublesOf>
  HWY_INLINE void AddRuns(std::size_t first, const DoublesOf& doubles_of) {
    const DoubleTag f64;
    const auto unit = doubles_of(units_.Load());
    auto sum = hn::Mul(unit, doubles_of(AddAcross(t_)));
    auto squares = hn::Mul(hn::Mul(unit, unit), doubles_of(AddAcross(t_squares_)));
    if constexpr (shape.has_minimums) {
      // Each of the numbers that m is the sum of stands for 16 weights.
      const auto minimum = doubles_of(minimums_.Load());
      const auto each = hn::Set(f64, 16.0);
      const auto m = hn::Mul(doubles_of(AddAcross(m_)), each);
      const auto m_squares = hn::Mul(doubles_of(AddAcross(m_squares_)), each);
      const auto doubled = hn::Mul(hn::Add(unit, unit), minimum);
      sum = hn::Sub(sum, hn::Mul(minimum, m));
      squares = hn::Sub(squares, hn::Mul(doubled, doubles_of(AddAcross(t_m_))));
      squares = hn::Add(squares, hn::Mul(hn::Mul(minimum, minimum), m_squares));
    }
    hn::Store(hn::Add(hn::Load(f64, sums_ + first), sum), f64, sums_ + first);
    hn::Store(hn::Add(hn::Load(f64, squares_ + first), squares), f64, squares_ + first);
  }

  // Of the batch.
  BatchFloats units_;
  BatchFloats minimums_;
  bool may_hold_news_[runs_of_batch];
  HWY_ALIGN BatchTotals t_;
  HWY_ALIGN BatchTotals t_squares_;
  HWY_ALIGN BatchTotals t_m_;
  HWY_ALIGN BatchTotals m_;
  HWY_ALIGN BatchTotals m_squares_;

  // Of all runs.
  HWY_ALIGN double sums_[runs_of_batch] = {};
  HWY_ALIGN double squares_[runs_of_batch] = {};
};

/// The zeros among levels.
class ZeroCount {
 public:
  HWY_INLINE ZeroCount() : nonzeros_(hn::Zero(CountTag())) {}

  HWY_INLINE void Set(std::size_t run, Codes nonzeros) {
    const auto counts = hn::SumsOf8(nonzeros);
    hn::Store(counts, CountTag(), of_batch_[run]);
    nonzeros_ = hn::Add(nonzeros_, counts);
  }
  /// Takes out a run of the batch.
  HWY_INLINE void Remove(std::size_t run) {
    nonzeros_ = hn::Sub(nonzeros_, hn::Load(CountTag(), of_batch_[run]));
  }
  [[nodiscard]] HWY_INLINE std::uint64_t Nonzeros() const {
    HWY_ALIGN std::uint64_t counts[2];
    hn::Store(nonzeros_, CountTag(), counts);
    return counts[0] + counts[1];
  }

 private:
  using CountTag = hn::Repartition<std::uint64_t, CodeTag>;
  hn::Vec<CountTag> nonzeros_;
  HWY_ALIGN std::uint64_t of_batch_[runs_of_batch][2];
};

template <RunShape shape>
using SumsOf =
    std::conditional_t<shape.elements <= most_short_run, ShortRunSums<shape>, LongRunSums<shape>>;

/// All that is known of runs.
template <RunShape shape>
struct RunSums : SumsOf<shape> {
  ZeroCount zeros;

  HWY_INLINE RunSums() {}

  HWY_INLINE void Set(std::size_t position, const Run<shape>& run) {
    SumsOf<shape>::Set(position, run);
    if constexpr (!shape.has_minimums) zeros.Set(position, run.nonzeros);
  }
};

/// Hands levels to runs. See FloatStore.
template <RunShape shape>
struct RunStore {
  Run<shape>* run;
  RunSums<shape>* sums;
  std::size_t* position;  ///< Of the run in its batch.
  KnownExtremes known;

  HWY_INLINE One Unit(const Bytes<2>& half) const { return Unit(OneHalfAt(half.data())); }
  HWY_INLINE One Unit(float unit) const {
    run->Begin(unit, 0.0f);
    if constexpr (shape.elements > most_short_run) {
      run->may_hold_news = MayHoldNews(unit, shape.largest_level, known);
    }
    return {};
  }
  /// Said after the unit.
  HWY_INLINE One Offset(const Bytes<2>& half) const {
    run->minimum = -OneHalfAt(half.data());
    return {};
  }
  HWY_INLINE Multiples<shape.groups> Groups(Levels numbers, Floats unit) const {
    run->Begin(hn::GetLane(unit), 0.0f);
    run->SetGroups(numbers, known);
    return Multiples<shape.groups>(numbers);
  }
  HWY_INLINE GroupMultiples<shape.groups> Groups(Levels numbers, Floats unit, Levels minimums,
                                                 Floats minimum) const {
    run->Begin(hn::GetLane(unit), hn::GetLane(minimum));
    run->SetGroups(numbers, minimums, known);
    return {numbers, minimums};
  }
  HWY_INLINE void NextRun() const {
    sums->Set((*position)++, *run);
    run->Continue();
  }
};

template <RunShape shape>
HWY_INLINE void StoreScaled(Levels levels, One, float*, RunStore<shape> store) {
  store.run->Add(levels);
}
template <RunShape shape>
HWY_INLINE void StoreScaled(Levels levels, Multiple scale, float*, RunStore<shape> store) {
  store.run->Add(levels, scale);
}
template <RunShape shape>
HWY_INLINE void StoreScaledWords(Words levels, One, float*, RunStore<shape> store) {
  store.run->AddWords(levels);
}
template <RunShape shape>
HWY_INLINE void StoreAffine(Levels levels, One, One, float*, RunStore<shape> store) {
  store.run->Add(levels);
}
template <RunShape shape>
HWY_INLINE void StoreAffine(Levels levels, GroupScale scale, GroupMinimum minimum, float*,
                            RunStore<shape> store) {
  store.run->Add(levels, scale, minimum);
}
template <RunShape shape>
HWY_INLINE void StoreAffine(Levels first, Levels last, GroupScale scale, GroupMinimum minimum,
                            float*, RunStore<shape> store) {
  store.run->Add(first, last, scale, minimum);
}

/// Extremes and zeros among the floats of a block.
template <std::size_t block_elements, class Block, class DecodeBlock>
HWY_NOINLINE void LookAt(const Block& block, const DecodeBlock& decode_block, NumberSums& sums) {
  Extremes extremes(sums.min, sums.max);
  float nowhere[block_elements];
  decode_block(block, nowhere, ExtremesStore(&extremes));
  sums.min = extremes.Least();
  sums.max = extremes.Most();
  sums.zeros += extremes.Zeros();
}

/// What there is to know of the levels of a run.
struct LevelCounts {
  int sum;
  int squares;
  int nonzeros;
  int largest;  ///< Of their magnitudes; sharper than what the shape says of any run.
};

/// Of 2-bit codes, less one, in as many words.
template <std::size_t words>
HWY_INLINE LevelCounts CountTwoBits(const std::uint8_t* bytes) {
  constexpr std::uint64_t low_bits = 0x5555555555555555;
  int low = 0;
  int high = 0;
  int both = 0;
  for (std::size_t i = 0; i < words; ++i) {
    const std::uint64_t word = u64_at(bytes + 8 * i);
    low += std::popcount(word & low_bits);
    high += std::popcount(word >> 1 & low_bits);
    both += std::popcount(word & word >> 1 & low_bits);
  }
  constexpr int count = 32 * int{words};
  const int codes = low + 2 * high;
  const int squares = low + 4 * high + 4 * both;
  return {codes - count, squares - 2 * codes + count, count - (low - both), both != 0 ? 2 : 1};
}

/// Adds up blocks of one run each, with a binary16 scale, whose decoder has a Count(block). As
/// LongRunSums.
template <RunShape shape, class Block, std::size_t block_elements, class DecodeBlock>
HWY_INLINE void CountRuns(const std::byte* src, std::size_t block_count, NumberSums& sums,
                          const DecodeBlock& decode_block) {
  static_assert(shape.elements == block_elements);
  const auto* blocks = reinterpret_cast<const Block*>(src);
  double lane_sums[runs_of_batch] = {};
  double lane_squares[runs_of_batch] = {};
  for (std::size_t b = 0; b < block_count; ++b) {
    const LevelCounts counts = DecodeBlock::Count(blocks[b]);
    const float scale = OneHalfAt(blocks[b].scale.data());
    const auto unit = static_cast<double>(scale);
    lane_sums[b % runs_of_batch] += unit * counts.sum;
    lane_squares[b % runs_of_batch] += unit * unit * counts.squares;
    if (MayHoldNews(scale, counts.largest, {sums.min, sums.max})) {
      LookAt<block_elements>(blocks[b], decode_block, sums);
    } else {
      sums.zeros += shape.elements - static_cast<std::size_t>(counts.nonzeros);
    }
  }
  sums.sum += total_of(lane_sums);
  sums.squares += total_of(lane_squares);
}

/// Adds the weights of blocks to the sums.
template <RunShape shape, class Block, std::size_t block_elements, class DecodeBlock>
HWY_INLINE void SumRuns(const std::byte* src, std::size_t block_count, NumberSums& sums,
                        const DecodeBlock& decode_block) {
  constexpr std::size_t runs_of_block = block_elements / shape.elements;
  constexpr std::size_t blocks_of_batch = runs_of_batch / runs_of_block;
  constexpr unsigned mask_of_block = (1u << runs_of_block) - 1;
  const auto* blocks = reinterpret_cast<const Block*>(src);
  float nowhere[block_elements];
  RunSums<shape> run_sums;
  std::size_t looked_at = 0;
  for (std::size_t first = 0; first < block_count; first += blocks_of_batch) {
    const std::size_t count = HWY_MIN(blocks_of_batch, block_count - first);
    const KnownExtremes known = {sums.min, sums.max};
    for (std::size_t b = 0; b < count; ++b) {
      Run<shape> run;
      std::size_t position = b * runs_of_block;
      decode_block(blocks[first + b], nowhere, RunStore<shape>{&run, &run_sums, &position, known});
      run_sums.Set(position, run);
    }
    run_sums.AddUp(count * runs_of_block);
    const unsigned runs_there = (1u << count * runs_of_block) - 1;
    const unsigned runs_with_news = run_sums.RunsWithNews(known) & runs_there;
    if (runs_with_news == 0) continue;
    for (std::size_t b = 0; b < count; ++b) {
      if ((runs_with_news >> (b * runs_of_block) & mask_of_block) == 0) continue;
      LookAt<block_elements>(blocks[first + b], decode_block, sums);
      ++looked_at;
      if constexpr (!shape.has_minimums) {
        for (std::size_t r = 0; r < runs_of_block; ++r) {
          run_sums.zeros.Remove(b * runs_of_block + r);
        }
      }
    }
  }
  run_sums.AddTo(sums);
  if constexpr (!shape.has_minimums) {
    sums.zeros += (block_count - looked_at) * block_elements - run_sums.zeros.Nonzeros();
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
