// SPDX-License-Identifier: MIT
// The arithmetic of the searches: one block per lane. A search is a template over `Lanes`, which is
// OneLane, plain floats, or the vectors of the CPU: each lane does what plain floats do, in the
// same order, so that all give the same bytes. Included once per CPU target, after hwy/highway.h.
//
// Searches see finite numbers alone (best.hpp), and divide by nothing that is not checked, so that
// no NaN arises, which CPUs would compare in ways of their own.
//
// A struct with vectors of which an object is made without values has a constructor that is written
// and HWY_INLINE: g++ compiles an implicit one for the plain CPU, and refuses NEON's vectors there.

// clang-format off
#if defined(INGOT_CODEC_BEST_LANES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef INGOT_CODEC_BEST_LANES_INL_HPP
#undef INGOT_CODEC_BEST_LANES_INL_HPP
#else
#define INGOT_CODEC_BEST_LANES_INL_HPP
#endif
// clang-format on

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "codec/best/best.hpp"
#include "codec/blocks/block.hpp"
#include "codec/kernel_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// 1.5 * 2^23: adding it rounds to the nearest integer, ties to even.
inline constexpr float rounding_shift = 12582912.0f;
inline constexpr float greatest_half = 65504.0f;
/// A sum of weighted squares below this counts as 0.
inline constexpr float least_square = 1e-30f;
/// The product of two such quotients, or of one and any sum over a block, is finite.
inline constexpr float greatest_quotient = 1e18f;
/// The error of a missing candidate.
inline constexpr float no_error = 3e38f;

struct OneLane {
  using Floats = float;
  using Mask = bool;
  static constexpr std::size_t count = 1;

  static HWY_INLINE float Set(float value) { return value; }
  static HWY_INLINE float Load(const float* from) { return *from; }
  static HWY_INLINE void Store(float value, float* to) { *to = value; }
  static HWY_INLINE float Min(float a, float b) { return a < b ? a : b; }
  static HWY_INLINE float Max(float a, float b) { return a > b ? a : b; }
  static HWY_INLINE float Abs(float a) { return std::fabs(a); }
  static HWY_INLINE bool Less(float a, float b) { return a < b; }
  static HWY_INLINE bool Both(bool a, bool b) { return a && b; }
  static HWY_INLINE bool IsAny(bool mask) { return mask; }
  static HWY_INLINE float Select(bool mask, float yes, float no) { return mask ? yes : no; }
  static HWY_INLINE float RoundHalf(float value) {
    return f32_from_f16(f16_from_f32(std::clamp(value, -greatest_half, greatest_half)));
  }
};

#if HWY_TARGET == HWY_SCALAR
using KernelLanes = OneLane;
#else
struct KernelLanes {
  using Tag = hn::ScalableTag<float>;
  using Floats = hn::Vec<Tag>;
  using Mask = hn::Mask<Tag>;
  static constexpr std::size_t count = HWY_LANES(float);

  static HWY_INLINE Floats Set(float value) { return hn::Set(Tag(), value); }
  static HWY_INLINE Floats Load(const float* from) { return hn::Load(Tag(), from); }
  static HWY_INLINE void Store(Floats value, float* to) { hn::Store(value, Tag(), to); }
  static HWY_INLINE Floats Min(Floats a, Floats b) { return hn::Min(a, b); }
  static HWY_INLINE Floats Max(Floats a, Floats b) { return hn::Max(a, b); }
  static HWY_INLINE Floats Abs(Floats a) { return hn::Abs(a); }
  static HWY_INLINE Mask Less(Floats a, Floats b) { return hn::Lt(a, b); }
  static HWY_INLINE Mask Both(Mask a, Mask b) { return hn::And(a, b); }
  static HWY_INLINE bool IsAny(Mask mask) { return !hn::AllFalse(Tag(), mask); }
  static HWY_INLINE Floats Select(Mask mask, Floats yes, Floats no) {
    return hn::IfThenElse(mask, yes, no);
  }

  /// Rounds to the nearest binary16, ties to even, at most greatest_half.
  static HWY_INLINE Floats RoundHalf(Floats value) {
    const hn::RebindToSigned<Tag> i32;
    value = Max(Min(value, Set(greatest_half)), Set(-greatest_half));
    // Normal: 13 bits fewer. Below 2^-14: the unit in the last place of 0.5 is 2^-24, that of a
    // subnormal.
    const auto bits = hn::BitCast(i32, value);
    const auto odd = hn::And(hn::ShiftRight<13>(bits), hn::Set(i32, 1));
    const auto sum = hn::Add(hn::Add(bits, hn::Set(i32, 0xFFF)), odd);
    const Floats normal = hn::BitCast(Tag(), hn::And(sum, hn::Set(i32, ~0x1FFF)));
    const Floats magnitude = Abs(value);
    const Floats half = Set(0.5f);
    const Floats small = hn::CopySign(hn::Sub(hn::Add(magnitude, half), half), value);
    return Select(Less(magnitude, Set(0x1p-14f)), small, normal);
  }
};
#endif

/// The rounds of a search that goes on as long as its error falls: each lane stops by itself.
template <class Lanes>
class FallingError {
 public:
  HWY_INLINE FallingError()
      : last_(Lanes::Set(no_error)), is_falling_(Lanes::Less(Lanes::Set(0.0f), last_)) {}

  /// Whether any lane goes on, after a round with this error.
  HWY_INLINE bool GoesOn(typename Lanes::Floats error) {
    is_falling_ = Lanes::Both(is_falling_, Lanes::Less(error, last_));
    last_ = error;
    return Lanes::IsAny(is_falling_);
  }

  /// The lanes that go on with an error below the best one.
  [[nodiscard]] HWY_INLINE typename Lanes::Mask IsBelow(typename Lanes::Floats best) const {
    return Lanes::Both(is_falling_, Lanes::Less(last_, best));
  }

 private:
  typename Lanes::Floats last_;
  typename Lanes::Mask is_falling_;
};

/// Rows of floats, one for each element of a block: that of lane b belongs to block b.
template <class Lanes>
class Rows {
 public:
  HWY_INLINE explicit Rows(const float* values) : values_(values) {}
  [[nodiscard]] HWY_INLINE typename Lanes::Floats operator[](std::size_t element) const {
    return Lanes::Load(values_ + element * Lanes::count);
  }
  [[nodiscard]] HWY_INLINE Rows From(std::size_t element) const {
    return Rows(values_ + element * Lanes::count);
  }

 private:
  const float* values_;
};

/// Rows that can be written, too.
template <class Lanes, std::size_t element_count>
struct Tile {
  HWY_ALIGN float values[element_count * Lanes::count];

  [[nodiscard]] HWY_INLINE typename Lanes::Floats operator[](std::size_t element) const {
    return Lanes::Load(values + element * Lanes::count);
  }
  HWY_INLINE void Set(std::size_t element, typename Lanes::Floats value) {
    Lanes::Store(value, values + element * Lanes::count);
  }
  [[nodiscard]] HWY_INLINE Rows<Lanes> All() const { return Rows<Lanes>(values); }
  /// A number of one block.
  [[nodiscard]] HWY_INLINE float At(std::size_t element, std::size_t lane) const {
    return values[element * Lanes::count + lane];
  }
  [[nodiscard]] HWY_INLINE int IntAt(std::size_t element, std::size_t lane) const {
    return static_cast<int>(At(element, lane));
  }
};

template <class Lanes>
[[nodiscard]] HWY_INLINE typename Lanes::Floats Round(typename Lanes::Floats value) {
  const auto shift = Lanes::Set(rounding_shift);
  return (value + shift) - shift;
}

/// Rounds to the nearest integer from low to high.
template <class Lanes>
[[nodiscard]] HWY_INLINE typename Lanes::Floats RoundWithin(typename Lanes::Floats value,
                                                            typename Lanes::Floats low,
                                                            typename Lanes::Floats high) {
  return Round<Lanes>(Lanes::Max(Lanes::Min(value, high), low));
}

/// a / b, or 0 where b is 0 or too small to divide by; at most greatest_quotient.
template <class Lanes>
[[nodiscard]] HWY_INLINE typename Lanes::Floats DivideOrZero(typename Lanes::Floats a,
                                                             typename Lanes::Floats b) {
  const auto is_safe = Lanes::Less(Lanes::Set(least_square), Lanes::Abs(b));
  const auto quotient = a / Lanes::Select(is_safe, b, Lanes::Set(1.0f));
  const auto greatest = Lanes::Set(greatest_quotient);
  const auto bounded = Lanes::Max(Lanes::Min(quotient, greatest), Lanes::Set(-greatest_quotient));
  return Lanes::Select(is_safe, bounded, Lanes::Set(0.0f));
}

template <class Lanes>
[[nodiscard]] HWY_INLINE typename Lanes::Floats LargestMagnitude(Rows<Lanes> x, std::size_t count) {
  auto largest = Lanes::Set(0.0f);
  for (std::size_t i = 0; i < count; ++i) largest = Lanes::Max(largest, Lanes::Abs(x[i]));
  return largest;
}

/// Some blocks in lanes, as Search::Run gets them; `used` lanes have one of their own.
template <class Lanes, std::size_t block_elements>
struct LaneBlocks {
  Tile<Lanes, block_elements> x;
  Tile<Lanes, block_elements> w;
  std::size_t used;
  const float* first_x;  ///< The blocks as they came.
  const float* first_w;
  const std::byte* first_reference;

  HWY_INLINE void Fill(const BlockSearch& search, std::size_t first, std::size_t block_bytes) {
    used = std::min(Lanes::count, search.block_count - first);
    first_x = search.x + first * block_elements;
    first_w = search.w + first * block_elements;
    first_reference = search.reference + first * block_bytes;
    for (std::size_t lane = 0; lane < Lanes::count; ++lane) {
      const std::size_t from = std::min(lane, used - 1) * block_elements;
      for (std::size_t i = 0; i < block_elements; ++i) {
        x.values[i * Lanes::count + lane] = first_x[from + i];
        w.values[i * Lanes::count + lane] = first_w[from + i];
      }
    }
  }
};

/// Searches all blocks: Search::template Run<Lanes>(blocks, dst) writes `used` blocks to dst.
template <class Lanes, class Search>
HWY_INLINE void SearchInLanes(const BlockSearch& search) {
  using Block = typename Search::Block;
  LaneBlocks<Lanes, Search::block_elements> blocks;
  for (std::size_t first = 0; first < search.block_count; first += Lanes::count) {
    blocks.Fill(search, first, sizeof(Block));
    Block found[Lanes::count] = {};
    Search::template Run<Lanes>(blocks, found);
    std::memcpy(search.dst + first * sizeof(Block), found, blocks.used * sizeof(Block));
  }
}

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

/// Defines search_<enumerator>_ref.
#undef INGOT_REFERENCE_SEARCH
#if HWY_ONCE
#define INGOT_REFERENCE_SEARCH(enumerator, ...)                        \
  HWY_BEFORE_NAMESPACE();                                              \
  namespace ingot::codec::HWY_NAMESPACE {                              \
  void FindRef_##enumerator(const BlockSearch& search) {               \
    SearchInLanes<OneLane, __VA_ARGS__>(search);                       \
  }                                                                    \
  }                                                                    \
  HWY_AFTER_NAMESPACE();                                               \
  namespace ingot::codec {                                             \
  void search_##enumerator##_ref(const BlockSearch& search) noexcept { \
    HWY_STATIC_DISPATCH(FindRef_##enumerator)(search);                 \
  }                                                                    \
  }
#else
#define INGOT_REFERENCE_SEARCH(enumerator, ...)
#endif

/// Defines search_<enumerator> and search_<enumerator>_ref by a class Search. Outside of all
/// namespaces.
#undef INGOT_SEARCH
#define INGOT_SEARCH(enumerator, ...)                                                         \
  INGOT_KERNEL(Find_##enumerator, search_##enumerator, (const BlockSearch& search), (search), \
               SearchInLanes<KernelLanes, __VA_ARGS__>(search))                               \
  INGOT_REFERENCE_SEARCH(enumerator, __VA_ARGS__)
