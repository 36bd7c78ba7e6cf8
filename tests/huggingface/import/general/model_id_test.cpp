// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>

#include "ingot/model_card.hpp"

namespace ingot {
namespace {

/// The parts of a name in one line.
std::string parts(std::string_view id, std::int64_t parameter_count = 0) {
  const ModelId parsed = parse_model_id(id, parameter_count);
  const auto text = [](const std::optional<std::string>& part) { return part.value_or("-"); };
  return parsed.full_name + "|" + text(parsed.organization) + "|" + text(parsed.basename) + "|" +
         text(parsed.finetune) + "|" + text(parsed.version) + "|" + text(parsed.size_label);
}

TEST(ModelIdName, HasParts) {
  EXPECT_EQ(parts("org/Base-7B-Instruct-v1.5"), "Base-7B-Instruct-v1.5|org|Base|Instruct|v1.5|7B");
  EXPECT_EQ(parts("Base-8x7B"), "Base-8x7B|-|Base|-|-|8x7B");
  EXPECT_EQ(parts("Base-30B-A3B"), "Base-30B-A3B|-|Base|-|-|30B-A3B");
  EXPECT_EQ(parts("Base-1_5b"), "Base-1_5b|-|Base|-|-|1.5B");
  EXPECT_EQ(parts("bloom-7b1"), "bloom-7b1|-|bloom|-|-|7.1B");
}

TEST(ModelIdName, IsOneForPeopleWithASpaceInIt) {
  EXPECT_EQ(parts("a/My Model-7B"), "a/My Model-7B|-|-|-|-|-");
}

TEST(ModelIdName, IsNoOrganizationAfterADot) {
  EXPECT_EQ(parts("./Base-7B"), "Base-7B|-|Base|-|-|7B");
}

TEST(ModelIdName, TakesAWordForASizeOnlyWithoutANumber) {
  EXPECT_EQ(parts("Phi-3-mini-4k"), "Phi-3-mini-4k|-|Phi-3-mini|-|-|4K");
  EXPECT_EQ(parts("gpt2-xl"), "gpt2-xl|-|gpt2|-|-|xl");
}

TEST(ModelIdName, TakesASizeFarFromTheCountForAContextLength) {
  EXPECT_EQ(parts("llama-7B-128K", 7'000'000'000), "llama-7B-128K|-|llama|128k|-|7B");
  // An adapter has less than its model, so only smaller sizes are far.
  EXPECT_EQ(parts("style-7B-lora", -1'000'000), "style-7B-lora|-|style|-|-|7B");
  EXPECT_EQ(parts("style-8K-lora", -1'000'000), "style-8K-lora|-|style|8k|-|-");
}

TEST(ModelIdName, KeepsATotalBeforeTheSizeThatATokenUses) {
  EXPECT_EQ(parts("Base-26B-A4B-it", 4'000'000'000), "Base-26B-A4B-it|-|Base|it|-|26B-A4B");
  EXPECT_EQ(parts("Base-26B-A400B", 4'000'000'000), "Base-26B-A400B|-|Base|26b|-|A400B");
  EXPECT_EQ(parts("style-8K-A10K", -70'000), "style-8K-A10K|-|style|-|-|8K-A10K");
}

TEST(ModelIdName, LeavesEncodingsOut) {
  EXPECT_EQ(parts("Base-7B-bf16"), "Base-7B-bf16|-|Base|-|-|7B");
  EXPECT_EQ(parts("Base-7B-q4_k_m"), "Base-7B-q4_k_m|-|Base|-|-|7B");
}

TEST(ModelIdName, SurvivesEveryShape) {
  for (const char* id :
       {"", "-", "/", "a/", "---", "7b", "-7b", "x-1k", "\xFF-\xFE-1b9", "v", "a-b"}) {
    static_cast<void>(parse_model_id(id, 1000));
  }
  EXPECT_EQ(parts("/"), "||-|-|-|-");
}

TEST(ModelIdTitle, BeginsWordsWithCapitals) {
  EXPECT_EQ(model_title("base-model  7b v2 DPO"), "Base Model 7b v2 DPO");
  EXPECT_EQ(model_title("c4ai_x"), "C4Ai_X");
  EXPECT_EQ(model_title(""), "");
}

}  // namespace
}  // namespace ingot
