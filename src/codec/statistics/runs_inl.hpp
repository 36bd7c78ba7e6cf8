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

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "codec/statistics/extremes_inl.hpp"
#include "codec/statistics/number_sums.hpp"
#include "codec/statistics/run_levels_inl.hpp"
#include "codec/statistics/runs.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

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
