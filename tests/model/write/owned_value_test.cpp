// SPDX-License-Identifier: MIT
// Values that are built at run time.

#include "ingot/owned_value.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "ingot/model.hpp"
#include "ingot/model_writer.hpp"
#include "support/expect_error.hpp"
#include "support/gguf_builder.hpp"

namespace ingot::test {
namespace {

TEST(OwnedValue, NestedArraysAreWrittenAsTheFormatHasThem) {
  OwnedValue numbers = OwnedValue::array(ValueType::uint16);
  ASSERT_THAT(numbers.append(OwnedValue::number(std::uint16_t{1})), Succeeds());
  ASSERT_THAT(numbers.append(OwnedValue::number(std::uint16_t{2})), Succeeds());
  OwnedValue texts = OwnedValue::array(ValueType::string);
  ASSERT_THAT(texts.append(OwnedValue::string("x")), Succeeds());
  OwnedValue flags = OwnedValue::array(ValueType::boolean);
  ASSERT_THAT(flags.append(OwnedValue::boolean(true)), Succeeds());
  OwnedValue outer = OwnedValue::array(ValueType::array);
  for (const OwnedValue* inner : {&numbers, &texts, &flags}) {
    ASSERT_THAT(outer.append(*inner), Succeeds());
  }
  for (const Format format : all_formats) {
    GgufBuilder expected(format);
    expected.array_key("nested", ValueType::array, 3);
    expected.array(ValueType::uint16, 2).number(std::uint16_t{1}).number(std::uint16_t{2});
    expected.array(ValueType::string, 1).text("x");
    expected.array(ValueType::boolean, 1).u8(1);
    ModelWriter writer;
    writer.set_value("nested", outer.value());
    EXPECT_EQ(writer.serialise_header({format.version, format.byte_order}), expected.bytes());
    // And copied from a file.
    ModelWriter copy;
    const Bytes bytes = expected.bytes();
    const auto opened = Model::open_memory(bytes);
    ASSERT_THAT(opened, Succeeds());
    copy.set_value("nested", OwnedValue::copy_of(*opened->find("nested")).value());
    EXPECT_EQ(copy.serialise_header({format.version, format.byte_order}), bytes);
  }
}

TEST(OwnedValue, ArraysOfNumbersAreThoseOfTheirElements) {
  const std::vector<std::int16_t> numbers = {1, -2, 3};
  OwnedValue by_element = OwnedValue::array(ValueType::int16);
  for (const std::int16_t number : numbers) {
    ASSERT_THAT(by_element.append(OwnedValue::number(number)), Succeeds());
  }
  OwnedValue at_once = OwnedValue::array_of(std::span(numbers).first(2));
  ASSERT_THAT(at_once.append(OwnedValue::number(numbers[2])), Succeeds());
  const auto bytes = at_once.value().bytes();
  const auto expected = by_element.value().bytes();
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), expected.begin(), expected.end()));
  EXPECT_EQ(at_once.value().as_array().element_type(), ValueType::int16);
  EXPECT_EQ(at_once.value().as_array().size(), numbers.size());
  EXPECT_EQ(OwnedValue::array_of(std::span<const double>()).value().as_array().size(), 0u);
}

TEST(OwnedValue, ElementsHaveTheTypeOfTheArray) {
  OwnedValue array = OwnedValue::array(ValueType::int32);
  EXPECT_THAT(array.append(OwnedValue::number(std::uint32_t{1})), FailsWith(Errc::wrong_type));
  EXPECT_THAT(array.append(OwnedValue::string("1")), FailsWith(Errc::wrong_type));
  EXPECT_EQ(array.value().as_array().size(), 0u);
  OwnedValue scalar = OwnedValue::number(1);
  EXPECT_THAT(scalar.append(OwnedValue::number(1)), FailsWith(Errc::wrong_type));
}

TEST(OwnedValue, ArraysNestAsDeepAsAFileMay) {
  OwnedValue array = OwnedValue::array(ValueType::uint8);
  for (int depth = 2; depth <= 64; ++depth) {
    OwnedValue outer = OwnedValue::array(ValueType::array);
    ASSERT_THAT(outer.append(array), Succeeds()) << depth;
    array = std::move(outer);
  }
  OwnedValue too_deep = OwnedValue::array(ValueType::array);
  EXPECT_THAT(too_deep.append(array), FailsWith(Errc::nesting_too_deep));
  ModelWriter writer;
  writer.set_value("deep", array.value());
  EXPECT_THAT(writer.serialise_header(), Succeeds());
}

}  // namespace
}  // namespace ingot::test
