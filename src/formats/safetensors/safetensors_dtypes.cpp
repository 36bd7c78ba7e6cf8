// SPDX-License-Identifier: MIT
#include "formats/safetensors/safetensors_dtypes.hpp"

#include <array>

#include "base/ranges.hpp"

namespace ingot::formats {
namespace {

using ByteValues = std::array<std::uint16_t, 256>;

constexpr std::uint16_t bf16_nan = 0x7FC0;
constexpr unsigned bf16_mantissa_bits = 7;
constexpr int bf16_bias = 127;

/// The bits of mantissa * 2^exponent as bfloat16, which must hold it exactly as a normal number.
constexpr std::uint16_t bf16_of(unsigned mantissa, int exponent) {
  if (mantissa == 0) return 0;
  int top = 0;
  while ((mantissa >> (top + 1)) != 0) ++top;
  const unsigned fraction = (mantissa << (bf16_mantissa_bits - static_cast<unsigned>(top))) & 0x7Fu;
  return static_cast<std::uint16_t>(
      static_cast<unsigned>(exponent + top + bf16_bias) << bf16_mantissa_bits | fraction);
}

/// A float of eight bits with a sign: `exponent_bits`, then the mantissa. Source: OCP 8-bit
/// Floating Point Specification 1.0, table 1.
constexpr ByteValues float8_values(unsigned exponent_bits, int bias, bool has_infinity) {
  const unsigned mantissa_bits = 7 - exponent_bits;
  const unsigned top_exponent = (1u << exponent_bits) - 1;
  const unsigned mantissa_mask = (1u << mantissa_bits) - 1;
  ByteValues values{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    const unsigned exponent = byte >> mantissa_bits & top_exponent;
    const unsigned mantissa = byte & mantissa_mask;
    std::uint16_t value = 0;
    if (exponent == top_exponent && has_infinity) {
      value = mantissa == 0 ? 0x7F80 : bf16_nan;
    } else if (exponent == top_exponent && mantissa == mantissa_mask) {
      value = bf16_nan;  // the only NaN of E4M3, which has no infinity
    } else if (exponent == 0) {
      value = bf16_of(mantissa, 1 - bias - static_cast<int>(mantissa_bits));
    } else {
      value = bf16_of(mantissa | 1u << mantissa_bits,
                      static_cast<int>(exponent) - bias - static_cast<int>(mantissa_bits));
    }
    values[byte] = static_cast<std::uint16_t>(value | (byte & 0x80u) << 8);
  }
  return values;
}

/// A power of two: 2^(byte - 127). Source: OCP Microscaling Formats 1.0, section 5.4.1.
constexpr ByteValues e8m0_values() {
  ByteValues values{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    values[byte] = static_cast<std::uint16_t>(byte << bf16_mantissa_bits);
  }
  values[0] = 0x0040;  // 2^-127, below the normal numbers
  values[255] = bf16_nan;
  return values;
}

constexpr ByteValues e4m3 = float8_values(4, 7, false);
constexpr ByteValues e5m2 = float8_values(5, 15, true);
constexpr ByteValues e8m0 = e8m0_values();

constexpr std::array dtypes = {
    SafetensorsDtype{"BOOL", 8, std::nullopt},
    SafetensorsDtype{"F4", 4, std::nullopt},
    SafetensorsDtype{"F6_E2M3", 6, std::nullopt},
    SafetensorsDtype{"F6_E3M2", 6, std::nullopt},
    SafetensorsDtype{"U8", 8, std::nullopt},
    SafetensorsDtype{"I8", 8, TensorType::i8},
    SafetensorsDtype{"F8_E5M2", 8, TensorType::bf16, e5m2.data()},
    SafetensorsDtype{"F8_E4M3", 8, TensorType::bf16, e4m3.data()},
    SafetensorsDtype{"F8_E8M0", 8, TensorType::bf16, e8m0.data()},
    SafetensorsDtype{"I16", 16, TensorType::i16},
    SafetensorsDtype{"U16", 16, std::nullopt},
    SafetensorsDtype{"F16", 16, TensorType::f16},
    SafetensorsDtype{"BF16", 16, TensorType::bf16},
    SafetensorsDtype{"I32", 32, TensorType::i32},
    SafetensorsDtype{"U32", 32, std::nullopt},
    SafetensorsDtype{"F32", 32, TensorType::f32},
    SafetensorsDtype{"C64", 64, std::nullopt},
    SafetensorsDtype{"F64", 64, TensorType::f64},
    SafetensorsDtype{"I64", 64, TensorType::i64},
    SafetensorsDtype{"U64", 64, std::nullopt},
};

}  // namespace

const SafetensorsDtype* find_dtype(std::string_view name) noexcept {
  return find_row(dtypes, &SafetensorsDtype::name, name);
}

const SafetensorsDtype* find_dtype(TensorType type) noexcept {
  for (const SafetensorsDtype& dtype : dtypes) {
    if (dtype.type == type && dtype.byte_values == nullptr) return &dtype;
  }
  return nullptr;
}

}  // namespace ingot::formats
