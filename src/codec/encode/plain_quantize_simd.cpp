// SPDX-License-Identifier: MIT
#include <bit>

#define HWY_TARGET_INCLUDE "codec/encode/plain_quantize_simd.cpp"
#include <hwy/foreach_target.h>  // before highway.h
#include <hwy/highway.h>

#include "codec/encode/direct_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// Stores vectors of encode(x); the reference encodes the rest.
template <class T, class Encode>
HWY_INLINE void EncodeEach(const FloatRows& rows, Quantize reference, const Encode& encode) {
  const WideTag f32;
  const hn::Rebind<T, WideTag> to;
  const std::size_t count = rows.row_elements * rows.row_count;
  auto* dst = reinterpret_cast<T*>(rows.dst);  // for unaligned stores only
  std::size_t i = 0;
  for (; i + 2 * wide_lanes <= count; i += 2 * wide_lanes) {
    const auto first = encode(hn::LoadU(f32, rows.src + i));
    const auto second = encode(hn::LoadU(f32, rows.src + i + wide_lanes));
    hn::StoreU(first, to, dst + i);
    hn::StoreU(second, to, dst + i + wide_lanes);
  }
  reference({.src = rows.src + i,
             .dst = rows.dst + i * sizeof(T),
             .row_elements = count - i,
             .row_count = 1});
}

struct EncodeF16 {
  HWY_INLINE auto operator()(WideFloats x) const { return HalfBits(WideTag(), x); }
};

struct EncodeBF16 {
  HWY_INLINE auto operator()(WideFloats x) const {
    const hn::RebindToUnsigned<WideTag> u32;
    const WideIntTag i32;
    const hn::Rebind<std::uint16_t, WideTag> u16;
    const auto bits = hn::BitCast(u32, x);
    const auto upper = hn::ShiftRight<16>(bits);
    const auto odd = hn::And(upper, hn::Set(u32, 1));
    const auto rounded = hn::ShiftRight<16>(hn::Add(hn::Add(bits, hn::Set(u32, 0x7FFF)), odd));
    const auto is_nan = hn::RebindMask(u32, hn::IsNaN(x));
    const auto word = hn::IfThenElse(is_nan, hn::Or(upper, hn::Set(u32, 0x40)), rounded);
    return hn::DemoteTo(u16, hn::BitCast(i32, word));
  }
};

/// To the nearest of the integers from `low` to `high`, ties to even; NaN to 0. For magnitudes up
/// to 2^15: adding 1.5 * 2^23 rounds.
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

/// Half as many numbers at a time.
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
#define INGOT_ENCODER(Number, name, enumerator)                            \
  void Quantize##name(const FloatRows& rows) {                             \
    EncodeEach<Number>(rows, quantize_##enumerator##_ref, Encode##name()); \
  }
void QuantizeF64(const FloatRows& rows) { EncodeDoubles(rows); }
#else
void QuantizeF64(const FloatRows& rows) { quantize_f64_ref(rows); }
#endif

INGOT_ENCODER(std::uint16_t, F16, f16)
INGOT_ENCODER(std::uint16_t, BF16, bf16)
INGOT_ENCODER(std::int8_t, I8, i8)
INGOT_ENCODER(std::int16_t, I16, i16)
INGOT_ENCODER(std::int32_t, I32, i32)

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_EXPORT_ENCODER(F16, f16)
INGOT_EXPORT_ENCODER(BF16, bf16)
INGOT_EXPORT_ENCODER(I8, i8)
INGOT_EXPORT_ENCODER(I16, i16)
INGOT_EXPORT_ENCODER(I32, i32)
INGOT_EXPORT_ENCODER(F64, f64)

#if HWY_ONCE
namespace ingot::codec {

void quantize_f32(const FloatRows& rows) noexcept {
  if constexpr (std::endian::native != std::endian::little) return quantize_f32_ref(rows);
  const std::size_t size_bytes = rows.row_elements * rows.row_count * sizeof(float);
  if (size_bytes != 0) std::memcpy(rows.dst, rows.src, size_bytes);
}
/// No kernel: few CPUs convert to 64-bit integers, and weights are not stored so.
void quantize_i64(const FloatRows& rows) noexcept { quantize_i64_ref(rows); }

}  // namespace ingot::codec
#endif
