// SPDX-License-Identifier: MIT
// A small model that has something of everything, as bytes, and the means to open it from C++.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "ingot/ingot.h"
#include "support/gguf_builder.hpp"

namespace ingot::test {

inline constexpr std::uint64_t sample_key_count = 23;
inline constexpr std::uint64_t sample_tensor_count = 3;
inline constexpr std::size_t sample_data_bytes = 64;  // byte i of them is i + 1

/// A string with a NUL, a terminal escape and a byte that is not UTF-8.
inline constexpr std::string_view wild_text("a\0b\x1b[31m\xff", 9);

[[nodiscard]] inline Bytes sample_bytes() {
  return GgufBuilder()
      .pair("general.architecture", "llama")
      .pair("general.alignment", std::uint32_t{32})
      .pair("number.u8", std::uint8_t{200})
      .pair("number.i8", std::int8_t{-5})
      .pair("number.u16", std::uint16_t{60000})
      .pair("number.i16", std::int16_t{-300})
      .pair("number.u32", std::uint32_t{4'000'000'000})
      .pair("number.i32", std::int32_t{-70000})
      .pair("number.u64", std::uint64_t{UINT64_MAX})
      .pair("number.i64", std::int64_t{INT64_MIN})
      .pair("number.f32", 1.5F)
      .pair("number.f64", 0.1)
      .pair("flag", true)
      .pair("wild", wild_text)
      .array_pair<std::string_view>("array.strings", {"<s>", "", "hello"})
      .array_pair<std::int32_t>("array.i32", {-1, 0, 7})
      .array_pair<std::uint64_t>("array.u64", {1, std::uint64_t{1} << 63})
      .array_pair("array.f32", {0.5F, -2.0F})
      .array_pair("array.f64", {0.25, 0.1})
      .array_pair("array.bool", {true, false, true})
      .array_key("array.nested", ValueType::array, 3)
      .array(ValueType::uint16, 2)
      .number(std::uint16_t{1})
      .number(std::uint16_t{2})
      .array(ValueType::string, 0)
      .array(ValueType::uint8, 1)
      .u8(3)
      .array_key("array.empty", ValueType::string, 0)
      .pair("last", std::uint8_t{0})
      .tensor("token.weight", {4, 2}, TensorType::f32, 0)
      .tensor("layer.weight", {32, 1}, TensorType::q4_0, 32)
      .tensor("empty", {0}, TensorType::f16, 64)
      .pad_to(32)
      .data(sample_data_bytes)
      .bytes();
}

struct CloseModel {
  void operator()(ingot_model* model) const { ingot_close(model); }
};
using ModelPointer = std::unique_ptr<ingot_model, CloseModel>;

/// Opens bytes that must outlive the model; NULL with a failed expectation if that is an error.
[[nodiscard]] inline ModelPointer open_bytes(std::span<const std::byte> bytes,
                                             const ingot_open_options* options = nullptr) {
  ingot_model* model = nullptr;
  ingot_error error;
  const ingot_code code = ingot_open_memory(bytes.data(), bytes.size(), options, &model, &error);
  EXPECT_EQ(code, INGOT_OK) << error.message;
  return ModelPointer(model);
}

[[nodiscard]] inline std::string_view view(ingot_string text) { return {text.data, text.size}; }

/// An error that nobody has filled: a function that succeeds must leave it so.
[[nodiscard]] inline ingot_error untouched_error() {
  ingot_error error;
  std::memset(&error, 0xA5, sizeof error);
  return error;
}

[[nodiscard]] inline bool is_untouched(const ingot_error& error) {
  const ingot_error fresh = untouched_error();
  return std::memcmp(&error, &fresh, sizeof error) == 0;
}

/// Calls `function(error)` twice, with and without an error to fill, and expects `code` from both
/// and an error that says the same; for INGOT_OK, one that was left alone. Returns the error.
template <class Function>
ingot_error expect_code(ingot_code code, Function&& function) {
  ingot_error error = untouched_error();
  EXPECT_STREQ(ingot_code_name(function(nullptr)), ingot_code_name(code));
  EXPECT_STREQ(ingot_code_name(function(&error)), ingot_code_name(code));
  if (code == INGOT_OK) {
    EXPECT_TRUE(is_untouched(error));
    error.message[0] = '\0';
    return error;
  }
  EXPECT_EQ(error.code, code);
  EXPECT_EQ(error.reserved, 0U);
  EXPECT_NE(std::memchr(error.message, 0, sizeof error.message), nullptr);
  EXPECT_STRNE(error.message, "");
  return error;
}

/// A model over sample_bytes for each test.
class SampleTest : public testing::Test {
 protected:
  [[nodiscard]] const ingot_model* model() const { return model_.get(); }
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }
  [[nodiscard]] ingot_value value(const char* key) const {
    ingot_value result = {};
    EXPECT_EQ(ingot_get_value(model(), key, &result, nullptr), INGOT_OK) << key;
    return result;
  }

 private:
  Bytes bytes_ = sample_bytes();
  ModelPointer model_ = open_bytes(bytes_);
};

}  // namespace ingot::test
