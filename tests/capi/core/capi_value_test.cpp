// SPDX-License-Identifier: MIT
// Keys, values and arrays.
#include <gmock/gmock.h>

#include <algorithm>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "capi/core/sample_bytes.hpp"

namespace ingot::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CapiKeys : public SampleTest {};
class CapiValues : public SampleTest {};
class CapiArrays : public SampleTest {};

/// Whether nothing was written to a result that began as zeros.
template <class Result>
bool is_zero(const Result& result) {
  const auto bytes = std::as_bytes(std::span(&result, 1));
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

// --- keys ----------------------------------------------------------------------------------------

TEST_F(CapiKeys, IndexesAndNamesFindEachOther) {
  ASSERT_EQ(ingot_key_count(model()), sample_key_count);
  for (std::uint64_t i = 0; i < sample_key_count; ++i) {
    ingot_string name = {};
    expect_code(INGOT_OK, [&](ingot_error* e) { return ingot_key_name(model(), i, &name, e); });
    EXPECT_EQ(ingot_find_key_string(model(), name), static_cast<int64_t>(i));
    EXPECT_EQ(ingot_find_key(model(), std::string(view(name)).c_str()), static_cast<int64_t>(i));
  }
  ingot_string name = {};
  ASSERT_EQ(ingot_key_name(model(), 1, &name, nullptr), INGOT_OK);
  EXPECT_EQ(view(name), "general.alignment");
}

TEST_F(CapiKeys, AbsentKeys) {
  EXPECT_EQ(ingot_find_key(model(), "general.alignmen"), -1);
  EXPECT_EQ(ingot_find_key(model(), ""), -1);
  EXPECT_EQ(ingot_find_key_string(model(), {"general.alignment", 16}), -1);
  EXPECT_EQ(ingot_find_key_string(model(), {"general.alignment2", 17}), 1);
  EXPECT_EQ(ingot_find_key_string(model(), {nullptr, 0}), -1);
  ingot_value value = {};
  const ingot_error error = expect_code(INGOT_ERROR_KEY_NOT_FOUND, [&](ingot_error* e) {
    return ingot_get_value(model(), "absent", &value, e);
  });
  EXPECT_THAT(std::string(error.message), HasSubstr("absent"));
  EXPECT_EQ(ingot_value_type(&value), -1);
}

TEST_F(CapiKeys, NullAndWrongIndexes) {
  EXPECT_EQ(ingot_key_count(nullptr), 0U);
  EXPECT_EQ(ingot_find_key(nullptr, "flag"), -1);
  EXPECT_EQ(ingot_find_key(model(), nullptr), -1);
  EXPECT_EQ(ingot_find_key_string(nullptr, {"flag", 4}), -1);
  ingot_string name = {"before", 6};
  ingot_value value = {};
  for (const std::uint64_t index : {sample_key_count, UINT64_MAX}) {
    expect_code(INGOT_ERROR_INDEX_OUT_OF_RANGE,
                [&](ingot_error* e) { return ingot_key_name(model(), index, &name, e); });
    expect_code(INGOT_ERROR_INDEX_OUT_OF_RANGE,
                [&](ingot_error* e) { return ingot_key_value(model(), index, &value, e); });
  }
  const ingot_code refused = INGOT_ERROR_INVALID_ARGUMENT;
  expect_code(refused, [&](ingot_error* e) { return ingot_key_name(nullptr, 0, &name, e); });
  expect_code(refused, [&](ingot_error* e) { return ingot_key_name(model(), 0, nullptr, e); });
  expect_code(refused, [&](ingot_error* e) { return ingot_key_value(nullptr, 0, &value, e); });
  expect_code(refused, [&](ingot_error* e) { return ingot_key_value(model(), 0, nullptr, e); });
  expect_code(refused, [&](ingot_error* e) { return ingot_get_value(nullptr, "x", &value, e); });
  expect_code(refused,
              [&](ingot_error* e) { return ingot_get_value(model(), nullptr, &value, e); });
  expect_code(refused,
              [&](ingot_error* e) { return ingot_get_value(model(), "flag", nullptr, e); });
  EXPECT_EQ(view(name), "before");
  EXPECT_EQ(ingot_value_type(&value), -1);
}

/// Calls one of the ingot_get_... functions in every wrong way.
template <class Result, class Function>
void expect_getter_refuses(const ingot_model* model, Function&& get, const char* key) {
  Result result = {};
  const ingot_code refused = INGOT_ERROR_INVALID_ARGUMENT;
  expect_code(refused, [&](ingot_error* e) { return get(nullptr, key, &result, e); });
  expect_code(refused, [&](ingot_error* e) { return get(model, nullptr, &result, e); });
  expect_code(refused, [&](ingot_error* e) { return get(model, key, nullptr, e); });
  expect_code(INGOT_ERROR_KEY_NOT_FOUND,
              [&](ingot_error* e) { return get(model, "absent", &result, e); });
  const ingot_error error = expect_code(INGOT_ERROR_WRONG_TYPE, [&](ingot_error* e) {
    return get(model, "array.nested", &result, e);
  });
  EXPECT_THAT(std::string(error.message), HasSubstr("array.nested"));
  EXPECT_TRUE(is_zero(result));
  expect_code(INGOT_OK, [&](ingot_error* e) { return get(model, key, &result, e); });
}

TEST_F(CapiKeys, ByNameInOneCall) {
  expect_getter_refuses<std::uint64_t>(model(), ingot_get_u64, "number.u64");
  expect_getter_refuses<std::int64_t>(model(), ingot_get_i64, "number.i64");
  expect_getter_refuses<double>(model(), ingot_get_f64, "number.f64");
  expect_getter_refuses<bool>(model(), ingot_get_bool, "flag");
  expect_getter_refuses<ingot_string>(model(), ingot_get_string, "wild");

  std::uint64_t natural = 0;
  std::int64_t integer = 0;
  double number = 0;
  bool answer = false;
  ingot_string text = {};
  EXPECT_EQ(ingot_get_u64(model(), "number.u8", &natural, nullptr), INGOT_OK);
  EXPECT_EQ(natural, 200U);
  EXPECT_EQ(ingot_get_i64(model(), "number.i32", &integer, nullptr), INGOT_OK);
  EXPECT_EQ(integer, -70000);
  EXPECT_EQ(ingot_get_f64(model(), "number.f32", &number, nullptr), INGOT_OK);
  EXPECT_EQ(number, 1.5);
  EXPECT_EQ(ingot_get_bool(model(), "flag", &answer, nullptr), INGOT_OK);
  EXPECT_TRUE(answer);
  EXPECT_EQ(ingot_get_string(model(), "wild", &text, nullptr), INGOT_OK);
  EXPECT_EQ(view(text), wild_text);
}

// --- values --------------------------------------------------------------------------------------

TEST_F(CapiValues, UnsignedFromEveryWidth) {
  const struct {
    const char* key;
    ingot_code code;
    std::uint64_t number;
  } rows[] = {
      {"number.u8", INGOT_OK, 200},
      {"number.u16", INGOT_OK, 60000},
      {"number.u32", INGOT_OK, 4'000'000'000},
      {"number.u64", INGOT_OK, UINT64_MAX},
      {"number.i8", INGOT_ERROR_VALUE_OUT_OF_RANGE, 77},
      {"number.i16", INGOT_ERROR_VALUE_OUT_OF_RANGE, 77},
      {"number.i32", INGOT_ERROR_VALUE_OUT_OF_RANGE, 77},
      {"number.i64", INGOT_ERROR_VALUE_OUT_OF_RANGE, 77},
      {"number.f32", INGOT_ERROR_WRONG_TYPE, 77},
      {"flag", INGOT_ERROR_WRONG_TYPE, 77},
      {"wild", INGOT_ERROR_WRONG_TYPE, 77},
      {"array.u64", INGOT_ERROR_WRONG_TYPE, 77},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.key);
    const ingot_value stored = value(row.key);
    std::uint64_t number = 77;
    const ingot_error error = expect_code(
        row.code, [&](ingot_error* e) { return ingot_value_get_u64(&stored, &number, e); });
    EXPECT_EQ(number, row.number);
    if (row.code != INGOT_OK) {
      EXPECT_THAT(std::string(error.message), HasSubstr(row.key));
      EXPECT_EQ(error.file_offset, ingot_value_file_offset(&stored));
    }
  }
}

TEST_F(CapiValues, SignedFromEveryWidth) {
  const struct {
    const char* key;
    ingot_code code;
    std::int64_t number;
  } rows[] = {
      {"number.i8", INGOT_OK, -5},
      {"number.i16", INGOT_OK, -300},
      {"number.i32", INGOT_OK, -70000},
      {"number.i64", INGOT_OK, INT64_MIN},
      {"number.u8", INGOT_OK, 200},
      {"number.u16", INGOT_OK, 60000},
      {"number.u32", INGOT_OK, 4'000'000'000},
      {"number.u64", INGOT_ERROR_VALUE_OUT_OF_RANGE, 77},
      {"number.f64", INGOT_ERROR_WRONG_TYPE, 77},
      {"flag", INGOT_ERROR_WRONG_TYPE, 77},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.key);
    const ingot_value stored = value(row.key);
    std::int64_t number = 77;
    expect_code(row.code, [&](ingot_error* e) { return ingot_value_get_i64(&stored, &number, e); });
    EXPECT_EQ(number, row.number);
  }
}

TEST_F(CapiValues, FloatsBoolsAndStrings) {
  double number = 77;
  bool answer = false;
  ingot_string text = {"before", 6};
  const ingot_value f32 = value("number.f32");
  const ingot_value f64 = value("number.f64");
  const ingot_value flag = value("flag");
  const ingot_value wild = value("wild");
  const ingot_value u8 = value("number.u8");
  const ingot_code wrong = INGOT_ERROR_WRONG_TYPE;

  expect_code(wrong, [&](ingot_error* e) { return ingot_value_get_f64(&u8, &number, e); });
  expect_code(wrong, [&](ingot_error* e) { return ingot_value_get_f64(&flag, &number, e); });
  EXPECT_EQ(number, 77);
  expect_code(INGOT_OK, [&](ingot_error* e) { return ingot_value_get_f64(&f32, &number, e); });
  EXPECT_EQ(number, 1.5);
  expect_code(INGOT_OK, [&](ingot_error* e) { return ingot_value_get_f64(&f64, &number, e); });
  EXPECT_EQ(number, 0.1);

  expect_code(wrong, [&](ingot_error* e) { return ingot_value_get_bool(&u8, &answer, e); });
  EXPECT_FALSE(answer);
  expect_code(INGOT_OK, [&](ingot_error* e) { return ingot_value_get_bool(&flag, &answer, e); });
  EXPECT_TRUE(answer);

  expect_code(wrong, [&](ingot_error* e) { return ingot_value_get_string(&u8, &text, e); });
  EXPECT_EQ(view(text), "before");
  expect_code(INGOT_OK, [&](ingot_error* e) { return ingot_value_get_string(&wild, &text, e); });
  EXPECT_EQ(view(text), wild_text);
}

TEST_F(CapiValues, TypesOfAllKeys) {
  for (std::uint64_t i = 2; i < 14; ++i) {
    ingot_value stored = {};
    expect_code(INGOT_OK, [&](ingot_error* e) { return ingot_key_value(model(), i, &stored, e); });
    EXPECT_NE(ingot_value_type(&stored), -1);
    EXPECT_EQ(ingot_value_element_type(&stored), -1);
    EXPECT_EQ(ingot_value_element_count(&stored), 0U);
  }
  const ingot_value number = value("number.i16");
  EXPECT_EQ(ingot_value_type(&number), INGOT_VALUE_INT16);
  const ingot_value strings = value("array.strings");
  EXPECT_EQ(ingot_value_type(&strings), INGOT_VALUE_ARRAY);
  EXPECT_EQ(ingot_value_element_type(&strings), INGOT_VALUE_STRING);
  EXPECT_EQ(ingot_value_element_count(&strings), 3U);
}

TEST_F(CapiValues, BytesAreThoseOfTheFile) {
  for (std::uint64_t i = 0; i < sample_key_count; ++i) {
    ingot_value stored = {};
    ASSERT_EQ(ingot_key_value(model(), i, &stored, nullptr), INGOT_OK);
    const void* data = nullptr;
    std::size_t size_bytes = SIZE_MAX;
    expect_code(INGOT_OK,
                [&](ingot_error* e) { return ingot_value_bytes(&stored, &data, &size_bytes, e); });
    EXPECT_EQ(data, bytes().data() + ingot_value_file_offset(&stored));
    const auto fixed_bytes =
        ingot_value_type_bytes(static_cast<std::uint32_t>(ingot_value_type(&stored)));
    if (fixed_bytes != 0) {
      EXPECT_EQ(size_bytes, fixed_bytes);
    }
  }
  const ingot_value wild = value("wild");
  std::size_t size_bytes = 0;
  EXPECT_EQ(ingot_value_bytes(&wild, nullptr, &size_bytes, nullptr), INGOT_OK);
  EXPECT_EQ(size_bytes, wild_text.size());
  const void* data = nullptr;
  EXPECT_EQ(ingot_value_bytes(&wild, &data, nullptr, nullptr), INGOT_OK);
  EXPECT_EQ(std::memcmp(data, wild_text.data(), wild_text.size()), 0);
  EXPECT_EQ(ingot_value_bytes(&wild, nullptr, nullptr, nullptr), INGOT_OK);
}

/// Calls a function that takes a value in every wrong way; `call(value, result, error)`.
template <class Result, class Function>
void expect_value_refused(const ingot_value& good, Function&& call) {
  const ingot_value none = {};
  Result result = {};
  const ingot_code refused = INGOT_ERROR_INVALID_ARGUMENT;
  expect_code(refused, [&](ingot_error* e) { return call(nullptr, &result, e); });
  expect_code(refused, [&](ingot_error* e) { return call(&none, &result, e); });
  expect_code(refused, [&](ingot_error* e) { return call(&good, nullptr, e); });
  EXPECT_TRUE(is_zero(result));
}

TEST_F(CapiValues, RefuseNullAndNoValue) {
  expect_value_refused<std::uint64_t>(value("number.u8"), ingot_value_get_u64);
  expect_value_refused<std::int64_t>(value("number.u8"), ingot_value_get_i64);
  expect_value_refused<double>(value("number.f64"), ingot_value_get_f64);
  expect_value_refused<bool>(value("flag"), ingot_value_get_bool);
  expect_value_refused<ingot_string>(value("wild"), ingot_value_get_string);

  const ingot_value none = {};
  for (const ingot_value* const wrong : {&none, static_cast<const ingot_value*>(nullptr)}) {
    EXPECT_EQ(ingot_value_type(wrong), -1);
    EXPECT_EQ(ingot_value_element_type(wrong), -1);
    EXPECT_EQ(ingot_value_element_count(wrong), 0U);
    EXPECT_EQ(ingot_value_file_offset(wrong), INGOT_NO_OFFSET);
    const void* data = &none;
    std::size_t size_bytes = 77;
    expect_code(INGOT_ERROR_INVALID_ARGUMENT,
                [&](ingot_error* e) { return ingot_value_bytes(wrong, &data, &size_bytes, e); });
    EXPECT_EQ(data, &none);
    EXPECT_EQ(size_bytes, 77U);
  }
}

// --- arrays --------------------------------------------------------------------------------------

TEST_F(CapiArrays, CopyIntegers) {
  const ingot_value signed_ones = value("array.i32");
  std::vector<std::int64_t> integers(3, 77);
  expect_code(INGOT_OK, [&](ingot_error* e) {
    return ingot_value_copy_i64(&signed_ones, 0, 3, integers.data(), e);
  });
  EXPECT_THAT(integers, ElementsAre(-1, 0, 7));

  std::vector<std::uint64_t> naturals(3, 77);
  const ingot_error error = expect_code(INGOT_ERROR_VALUE_OUT_OF_RANGE, [&](ingot_error* e) {
    return ingot_value_copy_u64(&signed_ones, 0, 3, naturals.data(), e);
  });
  EXPECT_THAT(std::string(error.message), HasSubstr("array.i32[0]"));
  EXPECT_THAT(naturals, ElementsAre(77, 77, 77));
  expect_code(INGOT_OK, [&](ingot_error* e) {
    return ingot_value_copy_u64(&signed_ones, 1, 2, naturals.data(), e);
  });
  EXPECT_THAT(naturals, ElementsAre(0, 7, 77));

  const ingot_value unsigned_ones = value("array.u64");
  expect_code(INGOT_OK, [&](ingot_error* e) {
    return ingot_value_copy_u64(&unsigned_ones, 0, 2, naturals.data(), e);
  });
  EXPECT_THAT(naturals, ElementsAre(1, std::uint64_t{1} << 63, 77));
  integers.assign(2, 77);
  // The first element fits and the second does not: neither is written.
  expect_code(INGOT_ERROR_VALUE_OUT_OF_RANGE, [&](ingot_error* e) {
    return ingot_value_copy_i64(&unsigned_ones, 0, 2, integers.data(), e);
  });
  EXPECT_THAT(integers, ElementsAre(77, 77));
}

TEST_F(CapiArrays, CopyFloats) {
  const ingot_value f32 = value("array.f32");
  const ingot_value f64 = value("array.f64");
  std::vector<float> floats(2, 77);
  std::vector<double> doubles(2, 77);
  expect_code(INGOT_OK,
              [&](ingot_error* e) { return ingot_value_copy_f32(&f32, 0, 2, floats.data(), e); });
  EXPECT_THAT(floats, ElementsAre(0.5F, -2.0F));
  expect_code(INGOT_OK,
              [&](ingot_error* e) { return ingot_value_copy_f64(&f32, 0, 2, doubles.data(), e); });
  EXPECT_THAT(doubles, ElementsAre(0.5, -2.0));
  expect_code(INGOT_OK,
              [&](ingot_error* e) { return ingot_value_copy_f64(&f64, 0, 2, doubles.data(), e); });
  EXPECT_THAT(doubles, ElementsAre(0.25, 0.1));
  floats.assign(2, 77);
  // 0.1 as float64 is no float.
  expect_code(INGOT_ERROR_VALUE_OUT_OF_RANGE,
              [&](ingot_error* e) { return ingot_value_copy_f32(&f64, 0, 2, floats.data(), e); });
  EXPECT_THAT(floats, ElementsAre(77, 77));
  expect_code(INGOT_OK,
              [&](ingot_error* e) { return ingot_value_copy_f32(&f64, 0, 1, floats.data(), e); });
  EXPECT_EQ(floats[0], 0.25F);
}

TEST_F(CapiArrays, CopyBools) {
  const ingot_value array = value("array.bool");
  bool answers[3] = {};
  expect_code(INGOT_OK,
              [&](ingot_error* e) { return ingot_value_copy_bool(&array, 0, 3, answers, e); });
  EXPECT_THAT(answers, ElementsAre(true, false, true));
}

TEST_F(CapiArrays, CopyStrings) {
  const ingot_value array = value("array.strings");
  for (std::uint64_t first = 0; first <= 3; ++first) {
    for (std::uint64_t count = 0; count <= 3 - first; ++count) {
      std::vector<ingot_string> texts(3, ingot_string{"before", 6});
      expect_code(INGOT_OK, [&](ingot_error* e) {
        return ingot_value_copy_strings(&array, first, count, texts.data(), e);
      });
      const std::string_view expected[] = {"<s>", "", "hello"};
      for (std::uint64_t i = 0; i < 3; ++i) {
        EXPECT_EQ(view(texts[i]), i < count ? expected[first + i] : "before");
      }
    }
  }
}

/// Calls one of the ingot_value_copy_... functions in every wrong way.
template <class Element, class Function>
void expect_copy_refuses(const ingot_value& array, const ingot_value& other_type,
                         const ingot_value& scalar, Function&& copy) {
  const ingot_value none = {};
  const std::uint64_t size = ingot_value_element_count(&array);
  std::vector<Element> room(size + 2);
  Element* const out = reinterpret_cast<Element*>(room.data());
  const ingot_code refused = INGOT_ERROR_INVALID_ARGUMENT;
  const ingot_code outside = INGOT_ERROR_INDEX_OUT_OF_RANGE;
  expect_code(refused, [&](ingot_error* e) { return copy(nullptr, 0, 1, out, e); });
  expect_code(refused, [&](ingot_error* e) { return copy(&none, 0, 1, out, e); });
  expect_code(refused, [&](ingot_error* e) { return copy(&array, 0, 1, nullptr, e); });
  expect_code(outside, [&](ingot_error* e) { return copy(&array, 0, size + 1, out, e); });
  expect_code(outside, [&](ingot_error* e) { return copy(&array, 1, size, out, e); });
  expect_code(outside, [&](ingot_error* e) { return copy(&array, size + 1, 0, out, e); });
  expect_code(outside, [&](ingot_error* e) { return copy(&array, 1, UINT64_MAX, out, e); });
  expect_code(outside, [&](ingot_error* e) { return copy(&array, UINT64_MAX, 1, out, e); });
  expect_code(INGOT_ERROR_WRONG_TYPE, [&](ingot_error* e) { return copy(&scalar, 0, 1, out, e); });
  expect_code(INGOT_ERROR_WRONG_TYPE,
              [&](ingot_error* e) { return copy(&other_type, 0, 1, out, e); });
  expect_code(INGOT_ERROR_WRONG_TYPE,
              [&](ingot_error* e) { return copy(&other_type, 1, 1, out, e); });
  expect_code(INGOT_OK, [&](ingot_error* e) { return copy(&array, size, 0, nullptr, e); });
}

TEST_F(CapiArrays, CopyingRefuses) {
  const ingot_value strings = value("array.strings");
  const ingot_value i32 = value("array.i32");
  const ingot_value f32 = value("array.f32");
  expect_copy_refuses<std::uint64_t>(i32, strings, value("number.u8"), ingot_value_copy_u64);
  expect_copy_refuses<std::int64_t>(i32, f32, value("number.i8"), ingot_value_copy_i64);
  expect_copy_refuses<float>(f32, i32, value("number.f32"), ingot_value_copy_f32);
  expect_copy_refuses<double>(f32, i32, value("number.f64"), ingot_value_copy_f64);
  expect_copy_refuses<unsigned char>(
      value("array.bool"), i32, value("flag"),
      [](const ingot_value* array, std::uint64_t first, std::uint64_t count, unsigned char* out,
         ingot_error* error) {
        return ingot_value_copy_bool(array, first, count, reinterpret_cast<bool*>(out), error);
      });
  expect_copy_refuses<ingot_string>(strings, i32, value("wild"), ingot_value_copy_strings);
}

TEST_F(CapiArrays, EmptyArrays) {
  const ingot_value array = value("array.empty");
  EXPECT_EQ(ingot_value_element_type(&array), INGOT_VALUE_STRING);
  EXPECT_EQ(ingot_value_element_count(&array), 0U);
  expect_code(INGOT_OK,
              [&](ingot_error* e) { return ingot_value_copy_strings(&array, 0, 0, nullptr, e); });
  ingot_value element = {};
  expect_code(INGOT_ERROR_INDEX_OUT_OF_RANGE,
              [&](ingot_error* e) { return ingot_value_element(&array, 0, &element, e); });
}

TEST_F(CapiArrays, ElementsAreValues) {
  const ingot_value integers = value("array.i32");
  ingot_value element = {};
  expect_code(INGOT_OK,
              [&](ingot_error* e) { return ingot_value_element(&integers, 2, &element, e); });
  EXPECT_EQ(ingot_value_type(&element), INGOT_VALUE_INT32);
  std::uint64_t number = 0;
  EXPECT_EQ(ingot_value_get_u64(&element, &number, nullptr), INGOT_OK);
  EXPECT_EQ(number, 7U);

  const ingot_value strings = value("array.strings");
  expect_code(INGOT_OK,
              [&](ingot_error* e) { return ingot_value_element(&strings, 2, &element, e); });
  ingot_string text = {};
  EXPECT_EQ(ingot_value_get_string(&element, &text, nullptr), INGOT_OK);
  EXPECT_EQ(view(text), "hello");
}

TEST_F(CapiArrays, ArraysOfArrays) {
  const ingot_value outer = value("array.nested");
  EXPECT_EQ(ingot_value_element_type(&outer), INGOT_VALUE_ARRAY);
  ASSERT_EQ(ingot_value_element_count(&outer), 3U);
  ingot_value inner = {};
  ASSERT_EQ(ingot_value_element(&outer, 0, &inner, nullptr), INGOT_OK);
  EXPECT_EQ(ingot_value_element_type(&inner), INGOT_VALUE_UINT16);
  std::vector<std::uint64_t> numbers(2);
  ASSERT_EQ(ingot_value_copy_u64(&inner, 0, 2, numbers.data(), nullptr), INGOT_OK);
  EXPECT_THAT(numbers, ElementsAre(1, 2));
  ASSERT_EQ(ingot_value_element(&outer, 1, &inner, nullptr), INGOT_OK);
  EXPECT_EQ(ingot_value_element_count(&inner), 0U);

  // The element may replace the array that it is taken from.
  ingot_value value = outer;
  ASSERT_EQ(ingot_value_element(&value, 2, &value, nullptr), INGOT_OK);
  ASSERT_EQ(ingot_value_element(&value, 0, &value, nullptr), INGOT_OK);
  std::uint64_t number = 0;
  ASSERT_EQ(ingot_value_get_u64(&value, &number, nullptr), INGOT_OK);
  EXPECT_EQ(number, 3U);
  const ingot_error error = expect_code(INGOT_ERROR_WRONG_TYPE, [&](ingot_error* e) {
    return ingot_value_element(&value, 0, &inner, e);
  });
  EXPECT_THAT(std::string(error.message), HasSubstr("array.nested"));
}

TEST_F(CapiArrays, ElementRefusesNullAndWrongIndexes) {
  const ingot_value array = value("array.i32");
  const ingot_value number = value("number.u8");
  expect_value_refused<ingot_value>(
      array, [](const ingot_value* of, ingot_value* element, ingot_error* error) {
        return ingot_value_element(of, 0, element, error);
      });
  ingot_value element = {};
  for (const std::uint64_t index : {std::uint64_t{3}, UINT64_MAX}) {
    expect_code(INGOT_ERROR_INDEX_OUT_OF_RANGE,
                [&](ingot_error* e) { return ingot_value_element(&array, index, &element, e); });
  }
  expect_code(INGOT_ERROR_WRONG_TYPE,
              [&](ingot_error* e) { return ingot_value_element(&number, 0, &element, e); });
  EXPECT_EQ(ingot_value_type(&element), -1);
}

TEST_F(CapiArrays, ManyThreadsReadOneModel) {
  const ingot_value strings = value("array.strings");
  std::vector<std::thread> threads;
  std::vector<int> failures(8);
  threads.reserve(failures.size());
  for (int& failure : failures) {
    threads.emplace_back([&] {
      for (int round = 0; round < 100; ++round) {
        ingot_value element = {};
        ingot_string text = {};
        std::uint64_t number = 0;
        const bool is_right =
            ingot_value_element(&strings, 2, &element, nullptr) == INGOT_OK &&
            ingot_value_get_string(&element, &text, nullptr) == INGOT_OK && view(text) == "hello" &&
            ingot_get_u64(model(), "number.u8", &number, nullptr) == INGOT_OK && number == 200;
        failure += is_right ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(failures, testing::Each(0));
}

}  // namespace
}  // namespace ingot::test
