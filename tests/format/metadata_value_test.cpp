// SPDX-License-Identifier: MIT
// Typed access to values and arrays.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "support/expect_error.hpp"
#include "support/parse_bytes.hpp"
#include "support/sample_files.hpp"

namespace ingot::test {
namespace {

using std::string_view_literals::operator""sv;

/// One value behind a key, in a file of its own.
class OneValue {
 public:
  template <class Write>
  explicit OneValue(Format format, Write&& write)
      : bytes_(write(GgufBuilder(format)).bytes()), structure_(parse_whole(bytes_)) {}

  [[nodiscard]] const Value& get() const { return structure_.value().metadata.at(0).value; }

 private:
  Bytes bytes_;
  Result<format::Structure> structure_;
};

template <class T>
OneValue value_of(T content, Format format = v3) {
  return OneValue(format, [&](GgufBuilder file) { return file.pair("k", content); });
}
template <class T>
OneValue array_of(std::initializer_list<T> content, Format format = v3) {
  return OneValue(format, [&](GgufBuilder file) { return file.array_pair("k", content); });
}

/// What `Stored` can hold at its ends comes back as every `Wanted` that can hold it, and only then.
template <class Stored, class Wanted>
void expect_integer_access(Format format) {
  for (const Stored number : {std::numeric_limits<Stored>::min(), Stored{0}, Stored{1},
                              std::numeric_limits<Stored>::max()}) {
    const OneValue value = value_of(number, format);
    const Result<Wanted> read = value.get().get<Wanted>();
    if (std::in_range<Wanted>(number)) {
      ASSERT_THAT(read, Succeeds());
      EXPECT_EQ(*read, static_cast<Wanted>(number));
    } else {
      EXPECT_THAT(read, FailsWith(Errc::value_out_of_range, value.get().file_offset(), ""));
      EXPECT_EQ(read.error().detail, "holds " + std::to_string(number));
    }
  }
}

template <class Stored>
void expect_integer_access_of(Format format) {
  expect_integer_access<Stored, std::uint8_t>(format);
  expect_integer_access<Stored, std::int8_t>(format);
  expect_integer_access<Stored, std::uint16_t>(format);
  expect_integer_access<Stored, std::int16_t>(format);
  expect_integer_access<Stored, std::uint32_t>(format);
  expect_integer_access<Stored, std::int32_t>(format);
  expect_integer_access<Stored, std::uint64_t>(format);
  expect_integer_access<Stored, std::int64_t>(format);
}

TEST(Value, IntegersOfAnyWidthComeBackAsAnyWidthThatHoldsThem) {
  for (const Format format : {v3, v3_big}) {
    expect_integer_access_of<std::uint8_t>(format);
    expect_integer_access_of<std::int8_t>(format);
    expect_integer_access_of<std::uint16_t>(format);
    expect_integer_access_of<std::int16_t>(format);
    expect_integer_access_of<std::uint32_t>(format);
    expect_integer_access_of<std::int32_t>(format);
    expect_integer_access_of<std::uint64_t>(format);
    expect_integer_access_of<std::int64_t>(format);
  }
}

TEST(Value, FloatsComeBackExactlyOrNotAtAll) {
  for (const Format format : {v3, v3_big}) {
    EXPECT_EQ(value_of(0.1F, format).get().get<float>(), 0.1F);
    EXPECT_EQ(value_of(0.1F, format).get().get<double>(), double{0.1F});
    EXPECT_EQ(value_of(0.1, format).get().get<double>(), 0.1);
    EXPECT_EQ(value_of(0.25, format).get().get<float>(), 0.25F);
    EXPECT_THAT(value_of(0.1, format).get().get<float>(), FailsWith(Errc::value_out_of_range));
    EXPECT_THAT(value_of(1e300, format).get().get<float>(), FailsWith(Errc::value_out_of_range));
    EXPECT_THAT(value_of(1e-300, format).get().get<float>(), FailsWith(Errc::value_out_of_range));
  }
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(value_of(-infinity).get().get<float>(), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(*value_of(std::nan("")).get().get<float>()));
  EXPECT_TRUE(std::signbit(*value_of(-0.0).get().get<float>()));
}

TEST(Value, KindsDoNotConvertIntoEachOther) {
  const auto expect_only = [](const OneValue& one, bool is_integer, bool is_float, bool is_bool,
                              bool is_text) {
    const Value& value = one.get();
    EXPECT_EQ(value.get<std::int64_t>().has_value(), is_integer);
    EXPECT_EQ(value.get<std::uint64_t>().has_value(), is_integer);
    EXPECT_EQ(value.get<float>().has_value(), is_float);
    EXPECT_EQ(value.get<double>().has_value(), is_float);
    EXPECT_EQ(value.get<bool>().has_value(), is_bool);
    EXPECT_EQ(value.get<std::string_view>().has_value(), is_text);
  };
  expect_only(value_of(1), true, false, false, false);
  expect_only(value_of(std::uint8_t{1}), true, false, false, false);
  expect_only(value_of(1.0F), false, true, false, false);
  expect_only(value_of(1.0), false, true, false, false);
  expect_only(value_of(true), false, false, true, false);
  expect_only(value_of("1"), false, false, false, true);
  expect_only(array_of({1}), false, false, false, false);
}

TEST(Value, ARefusalSaysWhatIsThereInstead) {
  const OneValue text = value_of("8");
  const auto number = text.get().get<int>();
  ASSERT_THAT(number, FailsWith(Errc::wrong_type, text.get().file_offset(), ""));
  EXPECT_EQ(number.error().detail, "holds string, asked for an integer");
  EXPECT_EQ(array_of({1.5F}).get().get<double>().error().detail,
            "holds array of float32, asked for a float");
}

TEST(Value, WithoutAModelRefusesEverything) {
  const Value nothing;
  EXPECT_THAT(nothing.get<int>(), FailsWith(Errc::wrong_type));
  EXPECT_THAT(nothing.get<unsigned>(), FailsWith(Errc::wrong_type));
  EXPECT_THAT(nothing.get<bool>(), FailsWith(Errc::wrong_type));
  EXPECT_THAT(nothing.get<float>(), FailsWith(Errc::wrong_type));
  EXPECT_THAT(nothing.get<double>(), FailsWith(Errc::wrong_type));
  EXPECT_THAT(nothing.get<std::string_view>(), FailsWith(Errc::wrong_type));
  EXPECT_TRUE(nothing.as_array().empty());
  EXPECT_EQ(nothing.file_offset(), Error::no_offset);
}

TEST(Value, BytesAndOffsetAreThoseOfTheFile) {
  const Bytes bytes = GgufBuilder(v3_big).pair("n", 0x01020304).pair("t", "text").bytes();
  const auto structure = parse_whole(bytes);
  ASSERT_THAT(structure, Succeeds());
  const Value& number = structure->metadata[0].value;
  EXPECT_EQ(number.bytes().data(), bytes.data() + 24 + 9 + 4);
  EXPECT_EQ(number.file_offset(), 24u + 9 + 4);
  EXPECT_EQ(number.bytes()[0], std::byte{1});
  const Value& text = structure->metadata[1].value;
  EXPECT_EQ(text.bytes().size(), 4u);
  EXPECT_EQ(text.file_offset(), bytes.size() - 4);
}

TEST(Value, IsAnArrayOnlyIfItIsOne) {
  const OneValue text = value_of("not an array");
  EXPECT_FALSE(text.get().is_array());
  EXPECT_TRUE(text.get().as_array().empty());
  EXPECT_EQ(text.get().as_array().begin(), text.get().as_array().end());
}

template <class T>
void expect_elements(std::initializer_list<T> content) {
  for (const Format format : {v2, v3, v3_big}) {
    const OneValue one = array_of(content, format);
    const Array array = one.get().as_array();
    ASSERT_EQ(array.size(), content.size());
    std::vector<T> iterated;
    for (const Value& element : array) {
      EXPECT_EQ(element.type(), array.element_type());
      iterated.push_back(*element.get<T>());
    }
    EXPECT_EQ(iterated, std::vector<T>(content));
    for (std::size_t i = content.size(); i-- != 0;) EXPECT_EQ(array.get<T>(i), content.begin()[i]);
    EXPECT_THAT(array.get<T>(content.size()), FailsWith(Errc::index_out_of_range));
    EXPECT_THAT(array.get<T>(~std::uint64_t{0}), FailsWith(Errc::index_out_of_range));
  }
}

TEST(Array, GivesElementsOfEveryTypeInOrderAndAtRandom) {
  expect_elements<std::uint8_t>({0, 7, 255});
  expect_elements<std::int8_t>({-128, 7, 127});
  expect_elements<std::uint16_t>({1, 0x102});
  expect_elements<std::int16_t>({-2, 0x102});
  expect_elements<std::uint32_t>({0x1020304, 1});
  expect_elements<std::int32_t>({-5, 0x1020304});
  expect_elements<std::uint64_t>({0x102030405060708});
  expect_elements<std::int64_t>({-0x102030405060708, 0});
  expect_elements<float>({1.5F, -0.1F});
  expect_elements<double>({1.5, -0.1});
  expect_elements<bool>({true, false, true});
  expect_elements<std::string_view>({"a", "", "a\0b"sv, "longer than the small ones"});
}

TEST(Array, IteratorsAreForwardIterators) {
  static_assert(std::forward_iterator<Array::Iterator>);
  const OneValue one = array_of<std::string_view>({"a", "b", "c"});
  Array::Iterator it = one.get().as_array().begin();
  const Array::Iterator first = it++;
  EXPECT_EQ((*first).get<std::string_view>(), "a");
  EXPECT_EQ((*it).get<std::string_view>(), "b");
  EXPECT_NE(first, it);
  EXPECT_EQ(std::next(it, 2), one.get().as_array().end());
}

/// [[1, 2], ["x"], [], [[3], []]] as an array of arrays.
OneValue nested_array(Format format) {
  return OneValue(format, [](GgufBuilder file) {
    file.array_key("k", ValueType::array, 4);
    file.array(ValueType::uint32, 2).u32(1).u32(2);
    file.array(ValueType::string, 1).text("x");
    file.array(ValueType::float64, 0);
    file.array(ValueType::array, 2);
    file.array(ValueType::int16, 1).number(std::int16_t{-3});
    return file.array(ValueType::boolean, 0);
  });
}

/// Whether all of it is there, asked for in an order that iteration would not have.
bool is_nested_array(const Array& array) {
  const Array last = array[3].as_array();
  return last[1].as_array().empty() && last[0].as_array().get<int>(0) == -3 &&
         array[2].as_array().element_type() == ValueType::float64 &&
         array[1].as_array().get<std::string_view>(0) == "x" &&
         array[0].as_array().get<int>(1) == 2 && array.size() == 4;
}

TEST(Array, OfArraysGivesArrays) {
  for (const Format format : all_formats) {
    if (format.version == 1) continue;  // has no float64
    const OneValue one = nested_array(format);
    EXPECT_TRUE(is_nested_array(one.get().as_array()));
    std::vector<std::uint64_t> sizes;
    for (const Value& inner : one.get().as_array()) sizes.push_back(inner.as_array().size());
    EXPECT_EQ(sizes, (std::vector<std::uint64_t>{2, 1, 0, 2}));
  }
}

TEST(Array, RandomAccessFromSeveralThreadsBuildsItsIndexesOnce) {
  const OneValue nested = nested_array(v3);
  const OneValue texts = array_of<std::string_view>({"a", "b", "c", "d"});
  std::array<int, 8> right_answers{};
  std::vector<std::thread> threads;
  for (int& right : right_answers) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        right += is_nested_array(nested.get().as_array()) &&
                 texts.get().as_array().get<std::string_view>(2) == "c";
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int right : right_answers) EXPECT_EQ(right, 100);
}

}  // namespace
}  // namespace ingot::test
