// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "ingot/types.hpp"

namespace ingot::test {
namespace {

// The names are from the format's documentation and llama.h.
const std::map<std::uint64_t, std::string_view> expected_names = {
    {0, "F32"},     {1, "F16"},      {2, "Q4_0"},     {3, "Q4_1"},       {4, "Q4_1_SOME_F16"},
    {7, "Q8_0"},    {8, "Q5_0"},     {9, "Q5_1"},     {10, "Q2_K"},      {11, "Q3_K_S"},
    {12, "Q3_K_M"}, {13, "Q3_K_L"},  {14, "Q4_K_S"},  {15, "Q4_K_M"},    {16, "Q5_K_S"},
    {17, "Q5_K_M"}, {18, "Q6_K"},    {19, "IQ2_XXS"}, {20, "IQ2_XS"},    {21, "Q2_K_S"},
    {22, "IQ3_XS"}, {23, "IQ3_XXS"}, {24, "IQ1_S"},   {25, "IQ4_NL"},    {26, "IQ3_S"},
    {27, "IQ3_M"},  {28, "IQ2_S"},   {29, "IQ2_M"},   {30, "IQ4_XS"},    {31, "IQ1_M"},
    {32, "BF16"},   {36, "TQ1_0"},   {37, "TQ2_0"},   {38, "MXFP4_MOE"}, {39, "NVFP4"},
    {40, "Q1_0"},   {41, "Q2_0"}};

TEST(FileTypes, HaveTheNamesOfTheFormat) {
  for (std::uint64_t number = 0; number < 1024; ++number) {
    const auto expected = expected_names.find(number);
    EXPECT_EQ(file_type_name(number), expected != expected_names.end() ? expected->second : "")
        << number;
  }
}

TEST(FileTypes, TheFlagForGuessedIsIgnored) {
  EXPECT_EQ(file_type_name(1024 + 15), "Q4_K_M");
  EXPECT_EQ(file_type_name(1024), "F32");
  EXPECT_EQ(file_type_name(1024 + 5), "");
}

TEST(FileTypes, AreNamedAfterTheTypeOfMostWeights) {
  // The type that llama.cpp's quantizer makes, if the name is not the type.
  const std::map<std::string_view, TensorType> others = {
      {"Q4_1_SOME_F16", TensorType::q4_1}, {"IQ3_XS", TensorType::iq3_s},
      {"IQ3_M", TensorType::iq3_s},        {"IQ2_S", TensorType::iq2_xs},
      {"IQ2_M", TensorType::iq2_s},        {"MXFP4_MOE", TensorType::mxfp4}};
  for (const FileTypeInfo& row : file_types) {
    EXPECT_EQ(find_file_type(row.number), &row);
    const auto other = others.find(row.name);
    const TensorTypeInfo& type = *find_type(row.weights);
    if (other != others.end()) {
      EXPECT_EQ(row.weights, other->second) << row.name;
    } else {
      EXPECT_TRUE(row.name == type.name || row.name.substr(0, row.name.size() - 2) == type.name)
          << row.name;
    }
  }
  EXPECT_EQ(find_file_type(5), nullptr);
}

TEST(FileTypes, OfATypeAreThoseOfItsNameOrTheMedium) {
  EXPECT_EQ(file_type_of(TensorType::f32), 0u);
  EXPECT_EQ(file_type_of(TensorType::q2_k), 10u);
  EXPECT_EQ(file_type_of(TensorType::q4_k), 15u);
  EXPECT_EQ(file_type_of(TensorType::iq3_s), 26u);
  EXPECT_EQ(file_type_of(TensorType::iq2_s), 29u);
  EXPECT_EQ(file_type_of(TensorType::i32), std::nullopt);
}

TEST(FileTypes, OtherNumbersHaveNoName) {
  for (const std::uint64_t number :
       {std::uint64_t{2048 + 15}, std::uint64_t{1} << 32, (std::uint64_t{1} << 32) + 15,
        std::numeric_limits<std::uint64_t>::max()}) {
    EXPECT_EQ(file_type_name(number), "") << number;
  }
}

}  // namespace
}  // namespace ingot::test
