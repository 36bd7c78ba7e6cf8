// SPDX-License-Identifier: MIT
#include <bit>

#define HWY_TARGET_INCLUDE "codec/encode/plain_quantize_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/encode/direct_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// Calls store(first, second, dst) for pairs of vectors; the reference encodes the rest.
template <class T, class Store>
HWY_INLINE void EncodePairs(const FloatRows& rows, Quantize reference, const Store& store) {
  const WideTag f32;
  const std::size_t count = rows.row_elements * rows.row_count;
  auto* dst = reinterpret_cast<T*>(rows.dst);  // for unaligned stores only
  std::size_t i = 0;
  for (; i + 2 * wide_lanes <= count; i += 2 * wide_lanes) {
    store(hn::LoadU(f32, rows.src + i), hn::LoadU(f32, rows.src + i + wide_lanes), dst + i);
  }
  reference({.src = rows.src + i,
             .dst = rows.dst + i * sizeof(T),
             .row_elements = count - i,
             .row_count = 1});
}

/// Stores vectors of encode(x).
template <class T, class Encode>
HWY_INLINE void EncodeEach(const FloatRows& rows, Quantize reference, const Encode& encode) {
  EncodePairs<T>(rows, reference, [&](WideFloats first, WideFloats second, T* dst) HWY_ATTR {
    const hn::Rebind<T, WideTag> to;
    const auto encoded_first = encode(first);
    const auto encoded_second = encode(second);
    hn::StoreU(encoded_first, to, dst);
    hn::StoreU(encoded_second, to, dst + wide_lanes);
  });
}

struct EncodeF16 {
  HWY_INLINE auto operator()(WideFloats x) const { return HalfBits(WideTag(), x); }
};

/// The upper half of each lane is the nearest bfloat16, ties to even; NaN stays NaN and is quiet.
HWY_INLINE auto RoundToBF16(WideFloats x) {
  const hn::RebindToUnsigned<WideTag> u32;
  const auto bits = hn::BitCast(u32, x);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(u32, 1));
  const auto rounded = hn::Add(hn::Add(bits, hn::Set(u32, 0x7FFF)), odd);
  const auto is_nan = hn::RebindMask(u32, hn::IsNaN(x));
  return hn::IfThenElse(is_nan, hn::Or(bits, hn::Set(u32, 0x40'0000)), rounded);
}

/// One permutation takes the upper halves of two vectors; narrowing each takes twice as long.
HWY_INLINE void EncodeBF16(const FloatRows& rows) {
  using Words = hn::Repartition<std::uint16_t, WideTag>;
  const auto store = [](WideFloats first, WideFloats second, std::uint16_t* dst) HWY_ATTR {
    const auto low = hn::BitCast(Words(), RoundToBF16(first));
    const auto high = hn::BitCast(Words(), RoundToBF16(second));
    hn::StoreU(hn::ConcatOdd(Words(), high, low), Words(), dst);
  };
  EncodePairs<std::uint16_t>(rows, quantize_bf16_ref, store);
}

/// Rounds to the nearest integer from `low` to `high`, ties to even; NaN becomes 0. Adding 1.5 *
/// 2^23 rounds magnitudes up to 2^15.
HWY_INLINE WideInts NearestWithin(WideFloats x, float low, float high) {
  const WideTag f32;
  const WideIntTag i32;
  const auto magic = hn::Set(f32, 12582912.0f);
  const auto above = hn::IfThenElse(hn::Lt(x, hn::Set(f32, low)), hn::Set(f32, low), x);
  const auto within = hn::IfThenElse(hn::Gt(above, hn::Set(f32, high)), hn::Set(f32, high), above);
  const auto number = hn::IfThenElseZero(hn::Eq(x, x), within);
  return hn::Sub(hn::BitCast(i32, hn::Add(number, magic)), hn::BitCast(i32, magic));
}

struct EncodeI8 {
  HWY_INLINE auto operator()(WideFloats x) const {
    return hn::DemoteTo(hn::Rebind<std::int8_t, WideTag>(), NearestWithin(x, -128.0f, 127.0f));
  }
};

struct EncodeI16 {
  HWY_INLINE auto operator()(WideFloats x) const {
    return hn::DemoteTo(hn::Rebind<std::int16_t, WideTag>(), NearestWithin(x, -32768.0f, 32767.0f));
  }
};

struct EncodeI32 {
  HWY_INLINE auto operator()(WideFloats x) const {
    const WideTag f32;
    const WideIntTag i32;
    const auto is_high = hn::Ge(x, hn::Set(f32, 0x1p31f));
    const auto is_low = hn::Lt(x, hn::Set(f32, -0x1p31f));
    const auto is_within = hn::AndNot(hn::Or(is_high, is_low), hn::Eq(x, x));
    const auto nearest = hn::NearestInt(hn::IfThenElseZero(is_within, x));
    const auto high = hn::Set(i32, std::numeric_limits<std::int32_t>::max());
    const auto low = hn::Set(i32, std::numeric_limits<std::int32_t>::min());
    const auto capped = hn::IfThenElse(hn::RebindMask(i32, is_high), high, nearest);
    return hn::IfThenElse(hn::RebindMask(i32, is_low), low, capped);
  }
};

/// Encodes half as many numbers at a time.
HWY_INLINE void EncodeDoubles(const FloatRows& rows) {
  const hn::CappedTag<double, 8> f64;
  const hn::Rebind<float, decltype(f64)> f32;
  const std::size_t count = rows.row_elements * rows.row_count;
  auto* dst = reinterpret_cast<double*>(rows.dst);  // for unaligned stores only
  std::size_t i = 0;
  for (; i + hn::Lanes(f64) <= count; i += hn::Lanes(f64)) {
    hn::StoreU(hn::PromoteTo(f64, hn::LoadU(f32, rows.src + i)), f64, dst + i);
  }
  quantize_f64_ref(
      {.src = rows.src + i, .dst = rows.dst + 8 * i, .row_elements = count - i, .row_count = 1});
}

/// INGOT_ENCODER without blocks; without vectors it does the same.
#undef INGOT_ENCODER
#define INGOT_ENCODER(Number, name, enumerator) \
  INGOT_ENCODER_BY(name, enumerator,            \
                   EncodeEach<Number>(rows, quantize_##enumerator##_ref, Encode##name()))
#else
HWY_INLINE void EncodeBF16(const FloatRows& rows) { quantize_bf16_ref(rows); }
HWY_INLINE void EncodeDoubles(const FloatRows& rows) { quantize_f64_ref(rows); }
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_ENCODER(std::uint16_t, F16, f16)
INGOT_ENCODER(std::int8_t, I8, i8)
INGOT_ENCODER(std::int16_t, I16, i16)
INGOT_ENCODER(std::int32_t, I32, i32)
INGOT_ENCODER_BY(BF16, bf16, EncodeBF16(rows))
INGOT_ENCODER_BY(F64, f64, EncodeDoubles(rows))

#if HWY_ONCE
namespace ingot::codec {

void quantize_f32(const FloatRows& rows) noexcept {
  if constexpr (std::endian::native != std::endian::little) return quantize_f32_ref(rows);
  const std::size_t size_bytes = rows.row_elements * rows.row_count * sizeof(float);
  if (size_bytes != 0) std::memcpy(rows.dst, rows.src, size_bytes);
}
/// There is no kernel: few CPUs convert to 64-bit integers, and weights are not stored in this
/// type.
void quantize_i64(const FloatRows& rows) noexcept { quantize_i64_ref(rows); }

}  // namespace ingot::codec
#endif
