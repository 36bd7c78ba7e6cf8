// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ingot/types.hpp"

namespace ingot::test {
namespace {

struct ExpectedValueType {
  ValueType type;
  std::string_view name;
  std::uint32_t bytes;
};

// The rows by id, from the format's documentation.
constexpr std::array<ExpectedValueType, 13> expected_value_types = {{
    {ValueType::uint8, "uint8", 1},
    {ValueType::int8, "int8", 1},
    {ValueType::uint16, "uint16", 2},
    {ValueType::int16, "int16", 2},
    {ValueType::uint32, "uint32", 4},
    {ValueType::int32, "int32", 4},
    {ValueType::float32, "float32", 4},
    {ValueType::boolean, "bool", 1},
    {ValueType::string, "string", 0},
    {ValueType::array, "array", 0},
    {ValueType::uint64, "uint64", 8},
    {ValueType::int64, "int64", 8},
    {ValueType::float64, "float64", 8},
}};

TEST(ValueTypes, HaveTheNumbersOfTheFormat) {
  ASSERT_EQ(value_type_count, expected_value_types.size());
  for (std::size_t id = 0; id < expected_value_types.size(); ++id) {
    EXPECT_EQ(static_cast<std::size_t>(expected_value_types[id].type), id);
    EXPECT_EQ(name_of(expected_value_types[id].type), expected_value_types[id].name);
    EXPECT_EQ(size_bytes_of(expected_value_types[id].type), expected_value_types[id].bytes);
  }
}

TEST(ValueTypes, AreFoundByTheirWholeName) {
  for (const ExpectedValueType& expected : expected_value_types) {
    EXPECT_EQ(find_value_type(expected.name), expected.type);
  }
  for (const std::string_view name : {"", "uint", "uint32 ", "UINT32", "boolean", "float"}) {
    EXPECT_EQ(find_value_type(name), std::nullopt) << name;
  }
}

}  // namespace
}  // namespace ingot::test
