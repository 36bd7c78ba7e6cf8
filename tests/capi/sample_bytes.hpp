// SPDX-License-Identifier: MIT
// A small model that has something of everything, as bytes, and the means to open it from C++.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/ingot.h"

namespace ingot::test {

/// Appends little-endian fields, one by one.
class FieldWriter {
 public:
  template <class Number>
  FieldWriter& number(Number value) {
    std::byte raw[sizeof value];
    std::memcpy(raw, &value, sizeof value);
    if constexpr (std::endian::native == std::endian::big) std::reverse(raw, raw + sizeof raw);
    bytes_.insert(bytes_.end(), raw, raw + sizeof raw);
    return *this;
  }
  FieldWriter& u32(std::uint32_t value) { return number(value); }
  FieldWriter& u64(std::uint64_t value) { return number(value); }
  FieldWriter& raw(std::string_view text) {
    const auto view = std::as_bytes(std::span(text));
    bytes_.insert(bytes_.end(), view.begin(), view.end());
    return *this;
  }
  FieldWriter& text(std::string_view text) { return u64(text.size()).raw(text); }
  FieldWriter& header(std::uint64_t tensor_count, std::uint64_t key_count) {
    return raw("GGUF").u32(3).u64(tensor_count).u64(key_count);
  }
  /// A key and the type of the value, which has to follow.
  FieldWriter& key(std::string_view name, std::uint32_t value_type) {
    return text(name).u32(value_type);
  }
  /// The head of an array, whose elements have to follow.
  FieldWriter& array(std::uint32_t element_type, std::uint64_t count) {
    return u32(element_type).u64(count);
  }
  FieldWriter& tensor(std::string_view name, const std::vector<std::uint64_t>& shape,
                      std::uint32_t type, std::uint64_t data_offset) {
    text(name).u32(static_cast<std::uint32_t>(shape.size()));
    for (const std::uint64_t dimension : shape) u64(dimension);
    return u32(type).u64(data_offset);
  }
  FieldWriter& pad_to(std::size_t alignment) {
    while (bytes_.size() % alignment != 0) bytes_.push_back(std::byte{0});
    return *this;
  }
  [[nodiscard]] std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

inline constexpr std::uint64_t sample_key_count = 23;
inline constexpr std::uint64_t sample_tensor_count = 3;

/// A string with a NUL, a terminal escape and a byte that is not UTF-8.
inline constexpr std::string_view wild_text("a\0b\x1b[31m\xff", 9);

[[nodiscard]] inline std::vector<std::byte> sample_bytes() {
  FieldWriter file;
  file.header(sample_tensor_count, sample_key_count);
  file.key("general.architecture", INGOT_VALUE_STRING).text("llama");
  file.key("general.alignment", INGOT_VALUE_UINT32).u32(32);
  file.key("number.u8", INGOT_VALUE_UINT8).number(std::uint8_t{200});
  file.key("number.i8", INGOT_VALUE_INT8).number(std::int8_t{-5});
  file.key("number.u16", INGOT_VALUE_UINT16).number(std::uint16_t{60000});
  file.key("number.i16", INGOT_VALUE_INT16).number(std::int16_t{-300});
  file.key("number.u32", INGOT_VALUE_UINT32).u32(4'000'000'000);
  file.key("number.i32", INGOT_VALUE_INT32).number(std::int32_t{-70000});
  file.key("number.u64", INGOT_VALUE_UINT64).u64(UINT64_MAX);
  file.key("number.i64", INGOT_VALUE_INT64).number(INT64_MIN);
  file.key("number.f32", INGOT_VALUE_FLOAT32).number(1.5F);
  file.key("number.f64", INGOT_VALUE_FLOAT64).number(0.1);
  file.key("flag", INGOT_VALUE_BOOL).number(std::uint8_t{1});
  file.key("wild", INGOT_VALUE_STRING).text(wild_text);
  file.key("array.strings", INGOT_VALUE_ARRAY).array(INGOT_VALUE_STRING, 3);
  file.text("<s>").text("").text("hello");
  file.key("array.i32", INGOT_VALUE_ARRAY).array(INGOT_VALUE_INT32, 3);
  file.number(std::int32_t{-1}).number(std::int32_t{0}).number(std::int32_t{7});
  file.key("array.u64", INGOT_VALUE_ARRAY).array(INGOT_VALUE_UINT64, 2);
  file.u64(1).u64(std::uint64_t{1} << 63);
  file.key("array.f32", INGOT_VALUE_ARRAY).array(INGOT_VALUE_FLOAT32, 2).number(0.5F).number(-2.0F);
  file.key("array.f64", INGOT_VALUE_ARRAY).array(INGOT_VALUE_FLOAT64, 2).number(0.25).number(0.1);
  file.key("array.bool", INGOT_VALUE_ARRAY).array(INGOT_VALUE_BOOL, 3).raw({"\1\0\1", 3});
  file.key("array.nested", INGOT_VALUE_ARRAY).array(INGOT_VALUE_ARRAY, 3);
  file.array(INGOT_VALUE_UINT16, 2).number(std::uint16_t{1}).number(std::uint16_t{2});
  file.array(INGOT_VALUE_STRING, 0);
  file.array(INGOT_VALUE_UINT8, 1).number(std::uint8_t{3});
  file.key("array.empty", INGOT_VALUE_ARRAY).array(INGOT_VALUE_STRING, 0);
  file.key("last", INGOT_VALUE_UINT8).number(std::uint8_t{0});
  file.tensor("token.weight", {4, 2}, INGOT_TYPE_F32, 0);
  file.tensor("layer.weight", {32, 1}, INGOT_TYPE_Q4_0, 32);
  file.tensor("empty", {0}, INGOT_TYPE_F16, 64);
  file.pad_to(32);
  for (int i = 0; i < 64; ++i) file.number(static_cast<std::uint8_t>(i));
  return file.take();
}

/// One key `key` and no tensor.
[[nodiscard]] inline std::vector<std::byte> bytes_with_key(std::string_view key) {
  return FieldWriter().header(0, 1).key(key, INGOT_VALUE_UINT8).number(std::uint8_t{1}).pad_to(32).take();
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
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }
  [[nodiscard]] ingot_value value(const char* key) const {
    ingot_value result = {};
    EXPECT_EQ(ingot_get_value(model(), key, &result, nullptr), INGOT_OK) << key;
    return result;
  }

 private:
  std::vector<std::byte> bytes_ = sample_bytes();
  ModelPointer model_ = open_bytes(bytes_);
};

}  // namespace ingot::test
