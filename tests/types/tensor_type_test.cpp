// SPDX-License-Identifier: MIT
// The table against numbers that were written down a second time, from the format's documentation.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <string_view>

#include "ingot/types.hpp"

namespace ingot::test {
namespace {

struct Expected {
  std::uint32_t id;
  std::string_view name;
  std::uint32_t elements;
  std::uint32_t bytes;
};

void PrintTo(const Expected& row, std::ostream* stream) { *stream << row.name; }

constexpr std::array expected_types = {
    Expected{0, "F32", 1, 4},         Expected{1, "F16", 1, 2},
    Expected{30, "BF16", 1, 2},       Expected{28, "F64", 1, 8},
    Expected{24, "I8", 1, 1},         Expected{25, "I16", 1, 2},
    Expected{26, "I32", 1, 4},        Expected{27, "I64", 1, 8},
    Expected{2, "Q4_0", 32, 18},      Expected{3, "Q4_1", 32, 20},
    Expected{6, "Q5_0", 32, 22},      Expected{7, "Q5_1", 32, 24},
    Expected{8, "Q8_0", 32, 34},      Expected{9, "Q8_1", 32, 36},
    Expected{10, "Q2_K", 256, 84},    Expected{11, "Q3_K", 256, 110},
    Expected{12, "Q4_K", 256, 144},   Expected{13, "Q5_K", 256, 176},
    Expected{14, "Q6_K", 256, 210},   Expected{15, "Q8_K", 256, 292},
    Expected{19, "IQ1_S", 256, 50},   Expected{29, "IQ1_M", 256, 56},
    Expected{16, "IQ2_XXS", 256, 66}, Expected{17, "IQ2_XS", 256, 74},
    Expected{22, "IQ2_S", 256, 82},   Expected{18, "IQ3_XXS", 256, 98},
    Expected{21, "IQ3_S", 256, 110},  Expected{20, "IQ4_NL", 32, 18},
    Expected{23, "IQ4_XS", 256, 136}, Expected{34, "TQ1_0", 256, 54},
    Expected{35, "TQ2_0", 256, 66},   Expected{39, "MXFP4", 32, 17},
    Expected{40, "NVFP4", 64, 36},    Expected{41, "Q1_0", 128, 18},
    Expected{42, "Q2_0", 64, 18},
};

const std::map<std::uint32_t, std::string_view> expected_removed = {
    {4, "Q4_2"},      {5, "Q4_3"},        {31, "Q4_0_4_4"},   {32, "Q4_0_4_8"},
    {33, "Q4_0_8_8"}, {36, "IQ4_NL_4_4"}, {37, "IQ4_NL_4_8"}, {38, "IQ4_NL_8_8"}};

class TensorTypes : public testing::TestWithParam<Expected> {};

TEST_P(TensorTypes, HaveTheNumbersOfTheFormat) {
  const Expected& expected = GetParam();
  const TensorTypeInfo* info = find_type(TensorType{expected.id});
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->type, TensorType{expected.id});
  EXPECT_EQ(info->name, expected.name);
  EXPECT_EQ(info->block_elements, expected.elements);
  EXPECT_EQ(info->block_bytes, expected.bytes);
}

TEST_P(TensorTypes, AreFoundByName) {
  const TensorTypeInfo* info = find_type(TensorType{GetParam().id});
  EXPECT_EQ(find_type(GetParam().name), info);
}

INSTANTIATE_TEST_SUITE_P(All, TensorTypes, testing::ValuesIn(expected_types),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(TensorTypeTable, HasExactlyTheLiveTypesByAscendingId) {
  EXPECT_EQ(live_tensor_types.size(), expected_types.size());
  for (std::size_t i = 1; i < live_tensor_types.size(); ++i) {
    EXPECT_LT(live_tensor_types[i - 1].type, live_tensor_types[i].type);
  }
}

TEST(TensorTypeTable, KnowsEveryIdToTheLastAsLiveOrRemoved) {
  for (std::uint32_t id = 0; id <= 42; ++id) {
    const bool is_removed = expected_removed.contains(id);
    EXPECT_EQ(find_type(TensorType{id}) == nullptr, is_removed) << id;
    EXPECT_EQ(removed_type_name(TensorType{id}), is_removed ? expected_removed.at(id) : "") << id;
  }
}

TEST(TensorTypeTable, KnowsNothingBeyond) {
  for (const std::uint32_t id : {43u, 90u, 255u, 256u, 1u << 31, 0xFFFFFFFFu}) {
    EXPECT_EQ(find_type(TensorType{id}), nullptr) << id;
    EXPECT_EQ(removed_type_name(TensorType{id}), "") << id;
  }
}

TEST(TensorTypeTable, FindsNamesInAnyCase) {
  EXPECT_EQ(find_type("q4_k"), find_type(TensorType::q4_k));
  EXPECT_EQ(find_type("iQ2_xXs"), find_type(TensorType::iq2_xxs));
  EXPECT_EQ(find_type("bf16"), find_type(TensorType::bf16));
}

TEST(TensorTypeTable, FindsOnlyWholeNamesOfLiveTypes) {
  for (const std::string_view name : {"", "Q4", "Q4_", "Q4_K_M", "Q4_2", "Q4_K ", "Q4-K"}) {
    EXPECT_EQ(find_type(name), nullptr) << name;
  }
}

TEST(TensorTypeTable, BitsPerWeightCountTheScales) {
  EXPECT_EQ(find_type(TensorType::f32)->bits_per_weight(), 32.0);
  EXPECT_EQ(find_type(TensorType::q4_0)->bits_per_weight(), 4.5);
  EXPECT_EQ(find_type(TensorType::q6_k)->bits_per_weight(), 6.5625);
  EXPECT_EQ(find_type(TensorType::q1_0)->bits_per_weight(), 1.125);
}

TEST(TensorTypeTable, SortsTypesByWhatAnElementIs) {
  std::set<std::string_view> integers;
  std::set<std::string_view> floats;
  for (const TensorTypeInfo& info : live_tensor_types) {
    EXPECT_EQ(is_integer(info.type) + is_float(info.type) + is_quantized(info.type), 1);
    if (is_integer(info.type)) integers.insert(info.name);
    if (is_float(info.type)) floats.insert(info.name);
  }
  EXPECT_EQ(integers, (std::set<std::string_view>{"I8", "I16", "I32", "I64"}));
  EXPECT_EQ(floats, (std::set<std::string_view>{"F32", "F16", "BF16", "F64"}));
  constexpr auto removed = static_cast<TensorType>(4);
  EXPECT_FALSE(is_integer(removed) || is_float(removed) || is_quantized(removed));
}

TEST(TensorTypeTable, CountsBytesAndElementsOfWholeBlocks) {
  const TensorTypeInfo& q6_k = *find_type(TensorType::q6_k);
  EXPECT_EQ(q6_k.bytes_of(768), 630u);
  EXPECT_EQ(q6_k.elements_of(630), 768u);
  EXPECT_EQ(find_type(TensorType::f16)->bytes_of(7), 14u);
}

TEST(TensorTypeTable, SaysWhichTypesWantImportanceWeights) {
  std::map<ImportanceWeights, std::set<std::string_view>> names;
  for (const TensorTypeInfo& info : live_tensor_types) names[info.weights].insert(info.name);
  EXPECT_EQ(names[ImportanceWeights::required],
            (std::set<std::string_view>{"IQ1_S", "IQ2_XS", "IQ2_XXS"}));
  EXPECT_EQ(names[ImportanceWeights::recommended],
            (std::set<std::string_view>{"IQ1_M", "IQ2_S", "IQ3_XXS"}));
  EXPECT_EQ(names[ImportanceWeights::optional],
            (std::set<std::string_view>{"IQ3_S", "IQ4_NL", "IQ4_XS", "Q2_K", "Q3_K", "Q4_0", "Q4_1",
                                        "Q4_K", "Q5_0", "Q5_1", "Q5_K", "Q6_K"}));
}

}  // namespace
}  // namespace ingot::test
