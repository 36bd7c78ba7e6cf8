// SPDX-License-Identifier: MIT
#define HWY_TARGET_INCLUDE "codec/statistics/group_sums_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include <algorithm>
#include <span>

#include "codec/kernel_inl.hpp"
#include "codec/statistics/group_codes_inl.hpp"
#include "codec/statistics/group_sums.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// The meaning of a set sign of a code.
enum class SignMeaning : std::uint8_t {
  unused,
  minus,  ///< The level is negative.
  shift   ///< The point has the shift -0.125, so its level is four less.
};

/// The meaning of the codes of a type: the last bits of a byte, shifted to the right, are a number
/// in `levels`. Points are stored as magnitudes, which are levels themselves, and have signs.
struct CodeRule {
  Codebook levels = {};
  unsigned last_number = 15;  ///< The last number of `levels`; a mask, as other bits lie in front
                              ///< of codes.
  int shift = 0;
  SignMeaning signs = SignMeaning::unused;
  bool has_minimums = false;
  bool has_trits = false;  ///< Codes are bytes with several trits; the first one counts.
  /// Few blocks reach the last level, so that bounds by the scales alone would leave many open.
  bool compares_magnitudes = false;
  int rare_level = 0;  ///< No encoder writes this one; 0: there is none.

  [[nodiscard]] constexpr bool has_magnitudes() const { return signs == SignMeaning::minus; }
  [[nodiscard]] constexpr auto used_levels() const {
    return std::span(levels).first(last_number + 1);
  }
  [[nodiscard]] constexpr int least() const {
    return has_magnitudes() ? -most() : std::ranges::min(used_levels());
  }
  /// The greatest level that encoders write.
  [[nodiscard]] constexpr int most() const { return rare_level != 0 ? rare_level - 1 : greatest(); }
  [[nodiscard]] constexpr int greatest() const { return std::ranges::max(used_levels()); }
  /// Whether a level is a code and the first level.
  [[nodiscard]] constexpr bool is_linear() const {
    for (int i = 0; const int level : used_levels()) {
      if (level != levels[0] + i++) return false;
    }
    return true;
  }
  [[nodiscard]] constexpr bool has_zero() const {
    return std::ranges::count(used_levels(), 0) != 0;
  }
  [[nodiscard]] constexpr bool has_one_square() const { return least() == -1 && !has_zero(); }
  /// The number that is added to levels so that none is negative: sums of bytes have no sign.
  [[nodiscard]] constexpr int bias() const { return has_magnitudes() ? 128 : -least(); }
};

/// Magnitudes differ in the nibble above `shift`.
template <std::size_t count>
consteval CodeRule MagnitudeRule(const std::array<std::int8_t, count>& magnitudes, int shift,
                                 bool compares_magnitudes = false) {
  CodeRule rule{
      .shift = shift, .signs = SignMeaning::minus, .compares_magnitudes = compares_magnitudes};
  for (const std::int8_t level : magnitudes) {
    rule.levels[static_cast<std::size_t>(level >> shift)] = level;
  }
  return rule;
}

constexpr CodeRule sign_bits = {.levels = {-1, 1}, .last_number = 1};
constexpr CodeRule ternary_codes = {.levels = {-1, 0, 1, 2}, .last_number = 3, .rare_level = 2};
constexpr CodeRule trits = {.levels = {-1, 0, 1}, .last_number = 2, .has_trits = true};
constexpr CodeRule codes_with_minimums = {
    .levels = {0, 1, 2, 3}, .last_number = 3, .has_minimums = true};
constexpr CodeRule three_bits = {.levels = {-4, -3, -2, -1, 0, 1, 2, 3}, .last_number = 7};
constexpr CodeRule shifted_by_signs = {.levels = shifted_points, .signs = SignMeaning::shift};
constexpr CodeRule iq2_magnitudes = MagnitudeRule(iq2_levels, 2);
constexpr CodeRule iq3_xxs_magnitudes = MagnitudeRule(iq3_xxs_levels, 2, true);
constexpr CodeRule iq3_s_magnitudes = MagnitudeRule(iq3_s_levels, 0);

using ByteTable = std::array<std::uint8_t, 16>;

constexpr ByteTable BiasedLevels(const CodeRule& rule) {
  ByteTable table{};
  for (std::size_t i = 0; i < 16; ++i) {
    table[i] = static_cast<std::uint8_t>(rule.levels[i] + rule.bias());
  }
  return table;
}

/// The lower (0) or the upper (1) bytes of the squares of levels.
constexpr ByteTable BytesOfSquares(const CodeRule& rule, int byte) {
  ByteTable table{};
  for (std::size_t i = 0; i < 16; ++i) {
    table[i] = static_cast<std::uint8_t>(rule.levels[i] * rule.levels[i] >> (8 * byte));
  }
  return table;
}

using SumBytes = hn::CappedTag<std::uint8_t, 64>;  ///< 8, 4 or 2 octets, one from each group.
using SumInts = hn::Repartition<std::uint64_t, SumBytes>;
using SumDoubles = hn::Repartition<double, SumBytes>;

template <ByteTable table>
HWY_INLINE hn::Vec<SumBytes> LookUp(hn::Vec<SumBytes> nibbles) {
  HWY_ALIGN static constexpr ByteTable aligned = table;
  return hn::TableLookupBytes(hn::LoadDup128(SumBytes(), aligned.data()), nibbles);
}

/// Integers below 2^52, less a bias: those are the last bits of a double of 2^52 and more.
template <int bias>
HWY_INLINE hn::Vec<SumDoubles> DoublesOf(hn::Vec<SumInts> integers) {
  const auto bits = hn::Or(integers, hn::Set(SumInts(), 0x4330000000000000));
  return hn::Sub(hn::BitCast(SumDoubles(), bits), hn::Set(SumDoubles(), 0x1p52 + bias));
}

/// The first trits of bytes: 1 from 86 on, 2 from 171 on.
HWY_INLINE hn::Vec<SumBytes> FirstTrits(hn::Vec<SumBytes> bytes) {
  const auto one = hn::Set(SumBytes(), 1);
  return hn::Add(hn::Min(hn::SaturatedSub(bytes, hn::Set(SumBytes(), 85)), one),
                 hn::Min(hn::SaturatedSub(bytes, hn::Set(SumBytes(), 170)), one));
}

/// Numbers of levels.
template <const CodeRule& rule>
HWY_INLINE hn::Vec<SumBytes> NumbersOf(hn::Vec<SumBytes> codes, const std::uint8_t* signs) {
  if constexpr (rule.has_trits) return FirstTrits(codes);
  if constexpr (rule.signs == SignMeaning::shift) {
    const auto shifted = hn::Sub(codes, hn::Set(SumBytes(), 4));
    codes = hn::IfThenElse(hn::LoadMaskBits(SumBytes(), signs), shifted, codes);
  }
  const hn::Repartition<std::uint16_t, SumBytes> u16;
  const auto in_front = hn::ShiftRight<rule.shift>(hn::BitCast(u16, codes));
  return hn::And(hn::BitCast(SumBytes(), in_front), hn::Set(SumBytes(), rule.last_number));
}

/// The levels plus the bias.
template <const CodeRule& rule>
HWY_INLINE hn::Vec<SumBytes> BiasedLevelsOf(hn::Vec<SumBytes> codes, hn::Vec<SumBytes> numbers,
                                            const std::uint8_t* signs) {
  if constexpr (rule.has_magnitudes()) {
    const auto bias = hn::Set(SumBytes(), rule.bias());
    return hn::IfThenElse(hn::LoadMaskBits(SumBytes(), signs), hn::Sub(bias, codes),
                          hn::Add(bias, codes));
  } else if constexpr (rule.is_linear()) {
    return numbers;
  } else {
    return LookUp<BiasedLevels(rule)>(numbers);
  }
}

/// The sums of groups; octets are added first where no byte overflows.
template <int most>
HWY_INLINE hn::Vec<SumInts> SumGroupBytes(hn::Vec<SumBytes> first, hn::Vec<SumBytes> last) {
  if constexpr (2 * most <= 255) return hn::SumsOf8(hn::Add(first, last));
  return hn::Add(hn::SumsOf8(first), hn::SumsOf8(last));
}

/// The sums of the squares of levels.
template <const CodeRule& rule>
HWY_INLINE hn::Vec<SumInts> SumSquares(hn::Vec<SumBytes> first, hn::Vec<SumBytes> last) {
  if constexpr (rule.has_one_square()) return hn::Set(SumInts(), 16);
  constexpr ByteTable low = BytesOfSquares(rule, 0);
  constexpr ByteTable high = BytesOfSquares(rule, 1);
  const auto sums = SumGroupBytes<std::ranges::max(low)>(LookUp<low>(first), LookUp<low>(last));
  if constexpr (std::ranges::max(high) == 0) return sums;
  return hn::Add(sums, hn::ShiftLeft<8>(SumGroupBytes<std::ranges::max(high)>(LookUp<high>(first),
                                                                              LookUp<high>(last))));
}

/// The scales or minimums of the groups from g on.
HWY_INLINE hn::Vec<SumDoubles> FactorsAt(const float* groups, std::size_t g) {
  return hn::PromoteTo(SumDoubles(), hn::Load(hn::Rebind<float, SumDoubles>(), groups + g));
}

/// Sums and sums of squares; a lane is a group.
struct GroupTotals {
  hn::Vec<SumDoubles> sums;
  hn::Vec<SumDoubles> squares;
};

/// The totals of scale * level - minimum, from those of scale * level.
HWY_INLINE GroupTotals Lowered(const GroupTotals& scaled, hn::Vec<SumDoubles> minimum) {
  const auto sums = hn::Sub(scaled.sums, hn::Mul(hn::Set(SumDoubles(), 16.0), minimum));
  return {sums, hn::Sub(scaled.squares, hn::Mul(minimum, hn::Add(scaled.sums, sums)))};
}

/// The facts about the weights of a run that its levels show.
struct LevelCounts {
  std::uint64_t zeros = 0;  ///< The zeros; not counted for points, none of which is zero, or with
                            ///< minimums.
  bool is_unusual = false;  ///< Has a rare level, or magnitudes outside of the known extremes.
};

template <const CodeRule& rule>
HWY_INLINE void CountLevels(hn::Vec<SumBytes> biased_levels, LevelCounts& counts) {
  const auto is_level = [&](int level) HWY_ATTR {
    return hn::Eq(biased_levels,
                  hn::Set(SumBytes(), static_cast<std::uint8_t>(level + rule.bias())));
  };
  if constexpr (rule.has_zero() && rule.signs == SignMeaning::unused && !rule.has_minimums) {
    counts.zeros += hn::CountTrue(SumBytes(), is_level(0));
  }
  if constexpr (rule.rare_level != 0) {
    counts.is_unusual |= !hn::AllFalse(SumBytes(), is_level(rule.rare_level));
  }
}

/// The greatest of the eight bytes of each lane.
HWY_INLINE hn::Vec<SumInts> GreatestBytes(hn::Vec<SumBytes> bytes) {
  const auto fold = [](hn::Vec<SumBytes> all, hn::Vec<SumInts> moved)
                        HWY_ATTR { return hn::Max(all, hn::BitCast(SumBytes(), moved)); };
  bytes = fold(bytes, hn::ShiftRight<32>(hn::BitCast(SumInts(), bytes)));
  bytes = fold(bytes, hn::ShiftRight<16>(hn::BitCast(SumInts(), bytes)));
  bytes = fold(bytes, hn::ShiftRight<8>(hn::BitCast(SumInts(), bytes)));
  return hn::And(hn::BitCast(SumInts(), bytes), hn::Set(SumInts(), 255));
}

/// Whether a weight of the groups may lie outside of the extremes, as its sign is not looked at.
HWY_INLINE bool HasOutside(hn::Vec<SumBytes> magnitudes, hn::Vec<SumDoubles> scale,
                           const Extremes& known) {
  const auto greatest = hn::Abs(hn::Mul(scale, DoublesOf<0>(GreatestBytes(magnitudes))));
  const auto reach = hn::Set(SumDoubles(), std::min(known.most, -known.least));
  return !hn::AllFalse(SumDoubles(), hn::Gt(greatest, reach));
}

/// The totals of the groups from g on.
template <const CodeRule& rule>
HWY_INLINE GroupTotals TotalsOf(const GroupCodes& run, std::size_t g, const Extremes& known,
                                LevelCounts& counts) {
  constexpr std::size_t last_octets = summed_run / 2;
  const auto first_codes = hn::Load(SumBytes(), run.codes + 8 * g);
  const auto last_codes = hn::Load(SumBytes(), run.codes + last_octets + 8 * g);
  const auto first_numbers = NumbersOf<rule>(first_codes, run.signs + g);
  const auto last_numbers = NumbersOf<rule>(last_codes, run.signs + last_octets / 8 + g);
  const auto first = BiasedLevelsOf<rule>(first_codes, first_numbers, run.signs + g);
  const auto last = BiasedLevelsOf<rule>(last_codes, last_numbers, run.signs + last_octets / 8 + g);
  CountLevels<rule>(first, counts);
  CountLevels<rule>(last, counts);

  const auto sums = SumGroupBytes<rule.bias() + rule.greatest()>(first, last);
  const auto squares = SumSquares<rule>(first_numbers, last_numbers);
  const auto scale = FactorsAt(run.scales, g);
  if constexpr (rule.compares_magnitudes) {
    counts.is_unusual |= HasOutside(hn::Max(first_codes, last_codes), scale, known);
  }
  const GroupTotals scaled = {hn::Mul(scale, DoublesOf<16 * rule.bias()>(sums)),
                              hn::Mul(hn::Mul(scale, scale), DoublesOf<0>(squares))};
  if constexpr (rule.has_minimums) return Lowered(scaled, FactorsAt(run.minimums, g));
  return scaled;
}

/// Adds all groups of a run.
template <const CodeRule& rule>
HWY_INLINE LevelCounts AddGroups(const GroupCodes& run, const Extremes& known, GroupSums& to) {
  constexpr SumDoubles doubles;
  LevelCounts counts;
  for (std::size_t lane = 0; lane < group_lanes; lane += hn::Lanes(doubles)) {
    const GroupTotals low = TotalsOf<rule>(run, lane, known, counts);
    const GroupTotals high = TotalsOf<rule>(run, lane + group_lanes, known, counts);
    const auto sums = hn::Add(hn::Load(doubles, to.sums + lane), hn::Add(low.sums, high.sums));
    const auto squares =
        hn::Add(hn::Load(doubles, to.squares + lane), hn::Add(low.squares, high.squares));
    hn::Store(sums, doubles, to.sums + lane);
    hn::Store(squares, doubles, to.squares + lane);
  }
  return counts;
}

/// The groups that have a level whose weight is zero.
template <const CodeRule& rule>
HWY_INLINE hn::Mask<FloatTag> HasZero(Floats scale, Floats minimum) {
  auto has_zero = hn::Eq(minimum, hn::Zero(FloatTag()));
  for (int level = 1; level <= rule.most(); ++level) {
    const Floats product = hn::Mul(scale, hn::Set(FloatTag(), static_cast<float>(level)));
    has_zero = hn::Or(has_zero, hn::Eq(product, minimum));
  }
  return has_zero;
}

/// Whether weights may lie outside of the extremes, or are zero where their level is not.
template <const CodeRule& rule>
HWY_INLINE bool IsOpen(const GroupCodes& run, const Extremes& known) {
  bool is_open = false;
  for (std::size_t g = 0; g < 16; g += float_lanes) {
    const Floats scale = hn::Load(FloatTag(), run.scales + g);
    Floats low = hn::Mul(scale, hn::Set(FloatTag(), static_cast<float>(rule.least())));
    Floats high = hn::Mul(scale, hn::Set(FloatTag(), static_cast<float>(rule.most())));
    auto is_open_group = hn::Eq(scale, hn::Zero(FloatTag()));
    if constexpr (rule.has_minimums) {
      const Floats minimum = hn::Load(FloatTag(), run.minimums + g);
      low = hn::Sub(low, minimum);
      high = hn::Sub(high, minimum);
      is_open_group = HasZero<rule>(scale, minimum);
    }
    if constexpr (!rule.compares_magnitudes) {  // HasOutside has looked at the others
      const auto is_below = hn::Lt(hn::Min(low, high), hn::Set(FloatTag(), known.least));
      const auto is_above = hn::Gt(hn::Max(low, high), hn::Set(FloatTag(), known.most));
      is_open_group = hn::Or(is_open_group, hn::Or(is_below, is_above));
    }
    is_open |= !hn::AllFalse(FloatTag(), is_open_group);
  }
  return is_open;
}

template <class Block, std::size_t block_elements, const CodeRule& rule>
HWY_INLINE void SumRuns(const std::byte* src, std::size_t run_count, const Extremes& known,
                        GroupSums& sums) {
  constexpr std::size_t run_blocks = summed_run / block_elements;
  const auto* blocks = reinterpret_cast<const Block*>(src);
  sums.open_runs = 0;
  // Vectors that were just stored in parts would have to wait.
  constexpr std::size_t batch = 4;
  GroupCodes runs[batch];
  for (std::size_t first = 0; first < run_count; first += batch) {
    const std::size_t count = std::min(batch, run_count - first);
    for (std::size_t r = 0; r < count; ++r) Unpack(blocks + (first + r) * run_blocks, runs[r]);
    for (std::size_t r = 0; r < count; ++r) {
      const LevelCounts counts = AddGroups<rule>(runs[r], known, sums);
      if (counts.is_unusual || IsOpen<rule>(runs[r], known)) {
        sums.open_runs |= std::uint64_t{1} << (first + r);
      } else {
        sums.zeros += counts.zeros;
      }
    }
  }
}
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

/// Defines sum_groups_<enumerator>.
#if HWY_TARGET == HWY_SCALAR
#define INGOT_GROUP_SUMS(name, enumerator, rule)                 \
  INGOT_GROUP_KERNEL(name, enumerator, static_cast<void>(known), \
                     sum_groups_ref(TensorType::enumerator, src, run_count, sums))
#else
#define INGOT_GROUP_SUMS(name, enumerator, rule)                                            \
  INGOT_GROUP_KERNEL(name, enumerator,                                                      \
                     SumRuns<Block##name, block_elements_of(TensorType::enumerator), rule>( \
                         src, run_count, known, sums))
#endif
#undef INGOT_GROUP_KERNEL
#define INGOT_GROUP_KERNEL(name, enumerator, ...)                                            \
  INGOT_KERNEL(                                                                              \
      SumGroups##name, sum_groups_##enumerator,                                              \
      (const std::byte* src, std::size_t run_count, const Extremes& known, GroupSums& sums), \
      (src, run_count, known, sums), __VA_ARGS__)
#include "codec/statistics/group_sums.def"

#if HWY_ONCE
namespace ingot::codec {

SumGroups find_group_sums(TensorType type) noexcept {
  switch (type) {
#define INGOT_GROUP_SUMS(name, enumerator, rule) \
  case TensorType::enumerator:                   \
    return sum_groups_##enumerator;
#include "codec/statistics/group_sums.def"
    default:
      return nullptr;
  }
}

}  // namespace ingot::codec
#endif
