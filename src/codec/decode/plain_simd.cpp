// SPDX-License-Identifier: MIT
#include <array>
#include <cstring>

#include "codec/codec.hpp"

#define HWY_TARGET_INCLUDE "codec/decode/plain_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "codec/decode/decoding_inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ingot::codec::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR

/// Loads as many numbers as a vector has floats.
template <class T>
HWY_INLINE auto LoadNumbers(const std::uint8_t* bytes) {
  const hn::Rebind<T, FloatTag> tag;
  return hn::LoadU(tag, reinterpret_cast<const T*>(bytes));
}

/// 16 numbers: the blocks of plain types are too short for a vector. Convert()(bytes) makes floats
/// of the float_lanes numbers that begin there.
template <std::size_t number_bytes, class Convert>
struct Sixteen {
  Bytes<16 * number_bytes> bytes;
};

template <std::size_t number_bytes, class Convert, class Store>
HWY_INLINE void Decode(const Sixteen<number_bytes, Convert>& numbers, float* dst, Store store) {
  for (std::size_t i = 0; i < 16; i += float_lanes) {
    store(Convert()(&numbers.bytes[i * number_bytes]), dst + i);
  }
}

template <std::size_t number_bytes, class Convert>
HWY_INLINE void DecodeNumbers(const std::byte* src, float* dst, std::size_t count, Stores stores,
                              DequantizeReference decode_rest) {
  DecodeBlocks<Sixteen<number_bytes, Convert>, 16>(src, dst, count / 16, stores);
  const std::size_t done = count / 16 * 16;
  decode_rest(src + done * number_bytes, dst + done, count - done);
}

struct ConvertF32 {
  HWY_INLINE Floats operator()(const std::uint8_t* bytes) const {
    // Bits, not floats, though vectors do not care.
    return hn::BitCast(FloatTag(), LoadNumbers<std::uint32_t>(bytes));
  }
};

struct ConvertF16 {
  HWY_INLINE Floats operator()(const std::uint8_t* bytes) const {
    return FloatsFromHalves(LoadNumbers<std::uint16_t>(bytes));
  }
};

struct ConvertBF16 {
  HWY_INLINE Floats operator()(const std::uint8_t* bytes) const {
    const hn::RebindToUnsigned<FloatTag> u32;
    const auto bits = hn::PromoteTo(u32, LoadNumbers<std::uint16_t>(bytes));
    return hn::BitCast(FloatTag(), hn::ShiftLeft<16>(bits));
  }
};

template <class Integer>
struct ConvertShort {
  HWY_INLINE Floats operator()(const std::uint8_t* bytes) const {
    return hn::ConvertTo(FloatTag(), hn::PromoteTo(IntTag(), LoadNumbers<Integer>(bytes)));
  }
};
using ConvertI8 = ConvertShort<std::int8_t>;
using ConvertI16 = ConvertShort<std::int16_t>;

struct ConvertI32 {
  HWY_INLINE Floats operator()(const std::uint8_t* bytes) const {
    return hn::ConvertTo(FloatTag(), LoadNumbers<std::int32_t>(bytes));
  }
};

#if HWY_HAVE_FLOAT64
// Numbers of 8 bytes make half a vector of floats.
using HalfFloatTag = hn::Half<FloatTag>;
using DoubleTag = hn::Rebind<double, HalfFloatTag>;
using LongTag = hn::Rebind<std::int64_t, HalfFloatTag>;

/// Half as many numbers as a vector has floats: the first or the second half.
template <class T>
HWY_INLINE auto LoadHalf(const std::uint8_t* bytes, std::size_t half) {
  const hn::Rebind<T, HalfFloatTag> tag;
  return hn::LoadU(tag, reinterpret_cast<const T*>(bytes + half * 4 * float_lanes));
}

HWY_INLINE Floats Joined(hn::Vec<DoubleTag> low, hn::Vec<DoubleTag> high) {
  const HalfFloatTag half;
  return hn::Combine(FloatTag(), hn::DemoteTo(half, high), hn::DemoteTo(half, low));
}

struct ConvertF64 {
  HWY_INLINE Floats operator()(const std::uint8_t* bytes) const {
    return Joined(LoadHalf<double>(bytes, 0), LoadHalf<double>(bytes, 1));
  }
};

/// A double that rounds to the same float as the integer: where it has too many bits for a double,
/// the low 11 are replaced by one, set if any was, which is far below half of a float's last place.
HWY_INLINE hn::Vec<DoubleTag> DoublesOf(hn::Vec<LongTag> integers) {
  const LongTag i64;
  const auto low_mask = hn::Set(i64, 0x7FF);
  const auto low = hn::And(integers, low_mask);
  const auto is_exact = hn::Eq(low, hn::Zero(i64));
  const auto kept = hn::AndNot(low_mask, integers);
  const auto sticky = hn::IfThenElse(is_exact, kept, hn::Or(kept, hn::Set(i64, 0x800)));
  // 2^53 and above in magnitude: more than the sign in the upper 11 bits.
  const auto top = hn::ShiftRight<53>(integers);
  const auto is_small =
      hn::Or(hn::Eq(top, hn::Zero(i64)), hn::Eq(top, hn::Set(i64, std::int64_t{-1})));
  return hn::ConvertTo(DoubleTag(), hn::IfThenElse(is_small, integers, sticky));
}

struct ConvertI64 {
  HWY_INLINE Floats operator()(const std::uint8_t* bytes) const {
    return Joined(DoublesOf(LoadHalf<std::int64_t>(bytes, 0)),
                  DoublesOf(LoadHalf<std::int64_t>(bytes, 1)));
  }
};
#else
/// For WebAssembly, where Highway converts no numbers of 8 bytes.
template <class T>
struct ConvertOneByOne {
  HWY_INLINE Floats operator()(const std::uint8_t* bytes) const {
    std::array<T, float_lanes> numbers;
    std::memcpy(numbers.data(), bytes, sizeof numbers);
    std::array<float, float_lanes> floats;
    for (std::size_t i = 0; i < float_lanes; ++i) floats[i] = static_cast<float>(numbers[i]);
    return hn::LoadU(FloatTag(), floats.data());
  }
};
using ConvertF64 = ConvertOneByOne<double>;
using ConvertI64 = ConvertOneByOne<std::int64_t>;
#endif

#undef INGOT_DECODER
#define INGOT_DECODER(name, enumerator)                                                  \
  INGOT_DECODER_BY(name, enumerator,                                                     \
                   DecodeNumbers<block_bytes_of(TensorType::enumerator), Convert##name>( \
                       src, dst, block_count, stores, dequantize_##enumerator##_ref))
#endif

}  // namespace ingot::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

INGOT_DECODER(F32, f32)
INGOT_DECODER(F16, f16)
INGOT_DECODER(BF16, bf16)
INGOT_DECODER(F64, f64)
INGOT_DECODER(I8, i8)
INGOT_DECODER(I16, i16)
INGOT_DECODER(I32, i32)
INGOT_DECODER(I64, i64)
