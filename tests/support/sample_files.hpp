// SPDX-License-Identifier: MIT
// Small files that have something of everything.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "support/gguf_builder.hpp"

namespace ingot::test {

/// A string with a NUL, a terminal escape and a byte that is not UTF-8.
inline constexpr std::string_view wild_text("a\0b\x1b[31m\xff", 9);

/// Every value type and every kind of array that the format of the file can hold.
inline GgufBuilder& add_all_values(GgufBuilder& file, Format format) {
  file.pair("number.u8", std::uint8_t{200});
  file.pair("number.i8", std::int8_t{-5});
  file.pair("number.u16", std::uint16_t{60000});
  file.pair("number.i16", std::int16_t{-300});
  file.pair("number.u32", std::uint32_t{4'000'000'000});
  file.pair("number.i32", std::int32_t{-70'000});
  file.pair("number.f32", 1.5F);
  file.pair("flag", true);
  file.pair("text", "hello");
  file.pair("text.empty", "");
  file.pair("text.wild", wild_text);
  file.array_pair("array.u8", {std::uint8_t{1}, std::uint8_t{255}});
  file.array_pair("array.i8", {std::int8_t{-128}, std::int8_t{127}});
  file.array_pair("array.u16", {std::uint16_t{1}, std::uint16_t{65535}});
  file.array_pair("array.i16", {std::int16_t{-32768}, std::int16_t{1}});
  file.array_pair("array.u32", {std::uint32_t{1}, std::uint32_t{0xFFFFFFFF}});
  file.array_pair("array.i32", {std::int32_t{-1}, std::int32_t{2}, std::int32_t{3}});
  file.array_pair("array.f32", {0.5F, -2.0F});
  file.array_pair("array.bool", {true, false, true});
  file.array_pair<std::string_view>("array.text", {"<s>", "", wild_text});
  file.array_key("array.empty", ValueType::string, 0);
  file.array_key("array.nested", ValueType::array, 4);
  file.array(ValueType::uint16, 2).number(std::uint16_t{1}).number(std::uint16_t{2});
  file.array(ValueType::string, 2).text("x").text("");
  file.array(ValueType::array, 2);
  file.array(ValueType::array, 0);
  file.array(ValueType::float32, 1).number(0.25F);
  file.array(ValueType::boolean, 0);
  if (format.version == 1) return file;
  file.pair("number.u64", std::numeric_limits<std::uint64_t>::max());
  file.pair("number.i64", std::numeric_limits<std::int64_t>::min());
  file.pair("number.f64", 0.1);
  file.array_pair("array.u64", {std::uint64_t{1}, std::uint64_t{1} << 63});
  file.array_pair("array.i64", {std::int64_t{-1}, std::int64_t{1}});
  file.array_pair("array.f64", {0.25, 0.1});
  return file;
}

/// A model with all values, and tensors out of order, with a gap, without elements, without
/// dimensions, with an empty name, and with bytes after the last one.
[[nodiscard]] inline Bytes file_of_everything(Format format) {
  GgufBuilder file(format);
  file.pair("general.architecture", "llama");
  file.pair("general.alignment", std::uint32_t{16});
  add_all_values(file, format);
  file.tensor("late", {4, 3}, TensorType::f32, 48);
  file.tensor("early", {32}, TensorType::q4_0, 0);
  file.tensor("none", {0, 7}, TensorType::f16, 48);
  file.tensor("after.gap", {2, 1, 2, 1}, TensorType::bf16, 144);
  file.tensor("one", {}, TensorType::f64, 160);
  file.tensor("", {3}, TensorType::i8, 176);
  file.pad_to(16).data(176 + 3).raw("tail");
  return file.bytes();
}

/// About 600 bytes with every kind of field: to change it byte by byte.
[[nodiscard]] inline Bytes file_of_600_bytes(Format format) {
  GgufBuilder file(format);
  file.pair("general.architecture", "llama");
  file.pair("general.alignment", std::uint32_t{8});
  file.pair("u8", std::uint8_t{1});
  file.pair("f32", 1.5F);
  file.pair("flag", false);
  file.array_pair("bools", {true, false});
  file.array_pair("i16", {std::int16_t{-1}, std::int16_t{1}});
  file.array_pair<std::string_view>("texts", {"a", "", "bc"});
  file.array_key("nested", ValueType::array, 2);
  file.array(ValueType::string, 1).text("x");
  file.array(ValueType::array, 1).array(ValueType::uint8, 2).u8(3).u8(4);
  file.tensor("a.weight", {4, 2}, TensorType::f32, 0);
  file.tensor("b.weight", {32, 1}, TensorType::q4_0, 32);
  file.tensor("none", {0}, TensorType::f16, 56);
  file.pad_to(8).data(56);
  return file.bytes();
}

}  // namespace ingot::test
