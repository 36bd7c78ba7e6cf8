// SPDX-License-Identifier: MIT
// Types whose blocks are single numbers. Importances are ignored. Binary32 keeps its bits, binary64
// is exact; the others are rounded to nearest, ties to even. Out of range, an integer becomes the
// nearest limit of its type; a NaN becomes 0.
#include <limits>

#include "codec/codec.hpp"
#include "codec/encode/quantize_common.hpp"

namespace ingot::codec {
namespace {

/// Calls put(bytes, value) for each element, which takes sizeof(Word) bytes.
template <class Word, class Put>
void put_each(const FloatRows& rows, const Put& put) noexcept {
  auto* dst = reinterpret_cast<std::uint8_t*>(rows.dst);
  const std::size_t count = rows.row_elements * rows.row_count;
  for (std::size_t i = 0; i < count; ++i) put(dst + sizeof(Word) * i, rows.src[i]);
}

/// Rounds to the nearest integer as a float, ties to even.
float nearest_whole(float value) noexcept {
  const float magnitude = std::fabs(value);
  if (!(magnitude < 0x1p23f)) return value;  // whole already, infinite or NaN
  const float whole = magnitude + 0x1p23f - 0x1p23f;
  return value < 0.0f ? -whole : whole;
}

template <class Integer>
Integer integer_of(float value) noexcept {
  // One more than the largest integer, a power of two.
  const float limit = static_cast<float>(std::numeric_limits<Integer>::max() / 2 + 1) * 2.0f;
  const float whole = nearest_whole(value);
  if (whole != whole) return 0;
  if (whole >= limit) return std::numeric_limits<Integer>::max();
  if (whole < -limit) return std::numeric_limits<Integer>::min();
  return static_cast<Integer>(whole);
}

}  // namespace

void quantize_f32_ref(const FloatRows& rows) noexcept {
  put_each<std::uint32_t>(rows, [](std::uint8_t* bytes, const float& value) {
    // Bits and not a float, as some machines would make a signalling NaN quiet.
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    put_u32(bytes, bits);
  });
}

void quantize_f16_ref(const FloatRows& rows) noexcept { put_each<std::uint16_t>(rows, put_f16); }

void quantize_bf16_ref(const FloatRows& rows) noexcept {
  put_each<std::uint16_t>(
      rows, [](std::uint8_t* bytes, float value) { put_u16(bytes, bf16_from_f32(value)); });
}

void quantize_f64_ref(const FloatRows& rows) noexcept {
  put_each<std::uint64_t>(rows, [](std::uint8_t* bytes, float value) {
    put_u64(bytes, std::bit_cast<std::uint64_t>(static_cast<double>(value)));
  });
}

void quantize_i8_ref(const FloatRows& rows) noexcept {
  put_each<std::uint8_t>(rows, [](std::uint8_t* bytes, float value) {
    *bytes = static_cast<std::uint8_t>(integer_of<std::int8_t>(value));
  });
}

void quantize_i16_ref(const FloatRows& rows) noexcept {
  put_each<std::uint16_t>(rows, [](std::uint8_t* bytes, float value) {
    put_u16(bytes, static_cast<std::uint16_t>(integer_of<std::int16_t>(value)));
  });
}

void quantize_i32_ref(const FloatRows& rows) noexcept {
  put_each<std::uint32_t>(rows, [](std::uint8_t* bytes, float value) {
    put_u32(bytes, static_cast<std::uint32_t>(integer_of<std::int32_t>(value)));
  });
}

void quantize_i64_ref(const FloatRows& rows) noexcept {
  put_each<std::uint64_t>(rows, [](std::uint8_t* bytes, float value) {
    put_u64(bytes, static_cast<std::uint64_t>(integer_of<std::int64_t>(value)));
  });
}

}  // namespace ingot::codec
