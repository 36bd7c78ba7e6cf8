// SPDX-License-Identifier: MIT
#include "formats/safetensors/safetensors_dtypes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "ingot/half.hpp"

namespace ingot::formats {
namespace {

/// A float of eight bits, from its definition and with the mathematics of the C library.
double float8(unsigned byte, int exponent_bits, int bias) {
  const int mantissa_bits = 7 - exponent_bits;
  const int exponent = static_cast<int>(byte >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = static_cast<int>(byte) & ((1 << mantissa_bits) - 1);
  const double fraction = mantissa / std::ldexp(1.0, mantissa_bits);
  const double size =
      exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1.0 + fraction, exponent - bias);
  return (byte & 0x80) != 0 ? -size : size;
}

double value_of(const char* dtype, unsigned byte) {
  return f32_from_bf16(find_dtype(dtype)->byte_values[byte]);
}

TEST(SafetensorsDtypes, EveryByteOfE4M3IsExact) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    if ((byte & 0x7F) == 0x7F) {
      EXPECT_TRUE(std::isnan(value_of("F8_E4M3", byte)));
    } else {
      EXPECT_EQ(value_of("F8_E4M3", byte), float8(byte, 4, 7)) << byte;
      EXPECT_EQ(std::signbit(value_of("F8_E4M3", byte)), (byte & 0x80) != 0) << byte;
    }
  }
  EXPECT_EQ(value_of("F8_E4M3", 0x7E), 448.0);
}

TEST(SafetensorsDtypes, EveryByteOfE5M2IsExact) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const unsigned size = byte & 0x7F;
    if (size > 0x7C) {
      EXPECT_TRUE(std::isnan(value_of("F8_E5M2", byte)));
    } else if (size == 0x7C) {
      EXPECT_TRUE(std::isinf(value_of("F8_E5M2", byte)));
    } else {
      EXPECT_EQ(value_of("F8_E5M2", byte), float8(byte, 5, 15)) << byte;
    }
    EXPECT_EQ(std::signbit(value_of("F8_E5M2", byte)), (byte & 0x80) != 0) << byte;
  }
}

TEST(SafetensorsDtypes, EveryByteOfE8M0IsAPowerOfTwo) {
  for (unsigned byte = 0; byte < 255; ++byte) {
    EXPECT_EQ(value_of("F8_E8M0", byte), std::ldexp(1.0, static_cast<int>(byte) - 127)) << byte;
  }
  EXPECT_TRUE(std::isnan(value_of("F8_E8M0", 255)));
}

TEST(SafetensorsDtypes, TypesOfGgufAreFoundBothWays) {
  for (const TensorType type :
       {TensorType::f32, TensorType::f16, TensorType::bf16, TensorType::f64, TensorType::i8,
        TensorType::i16, TensorType::i32, TensorType::i64}) {
    const SafetensorsDtype* dtype = find_dtype(type);
    ASSERT_NE(dtype, nullptr);
    EXPECT_EQ(dtype->byte_values, nullptr);
    EXPECT_EQ(find_dtype(dtype->name), dtype);
    EXPECT_EQ(dtype->bits, 8 * find_type(type)->block_bytes);
  }
  EXPECT_EQ(find_dtype(TensorType::q4_0), nullptr);
  EXPECT_EQ(find_dtype("F33"), nullptr);
}

}  // namespace
}  // namespace ingot::formats
