// SPDX-License-Identifier: MIT
#include "huggingface/import/tokenizer/pre_structure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/json/json_tree.hpp"
#include "huggingface/import/tokenizer/pre_check.hpp"
#include "ingot/tokenizer.hpp"

namespace ingot::huggingface {
namespace {

/// The first name for a tokenizer with these steps; empty if the structure is unknown.
std::string first_name(const std::string& steps,
                       const std::string& model_class = "LlamaForCausalLM",
                       const std::string& more = R"("normalizer": null)") {
  const std::string json =
      R"({"pre_tokenizer": {"type": "Sequence", "pretokenizers": [)" + steps + "]}, " + more + "}";
  const auto tree = JsonTree::parse(json, "tokenizer.json");
  if (!tree) return "no JSON";
  const auto names = names_of(PreStructure::of(tree->root()), model_class);
  return names.empty() ? std::string() : std::string(names.front());
}

/// A Split; `behavior` has "behavior" and "invert".
std::string split(const std::string& expression,
                  const std::string& behavior = R"("behavior": "Isolated", "invert": false)") {
  return R"({"type": "Split", "pattern": {"Regex": ")" + expression + R"("}, )" + behavior + "}";
}

const std::string only_matches = R"("behavior": "Removed", "invert": true)";
const std::string byte_level_step = R"({"type": "ByteLevel", "use_regex": false})";
const std::string byte_level = R"({"type": "ByteLevel", "use_regex": true})";
const std::string digits = R"({"type": "Digits", "individual_digits": true})";
const std::string rest = R"( ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+)";
const std::string llama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|)" + rest;
const std::string qwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}|)" + rest;

TEST(PreStructure, HasTheNameOfItsRow) {
  EXPECT_EQ(first_name(byte_level), "gpt-2");
  EXPECT_EQ(first_name(digits + "," + byte_level), "starcoder");
  EXPECT_EQ(first_name(byte_level, "GPTNeoXForCausalLM", R"("normalizer": {"type": "NFC"})"),
            "olmo");
  EXPECT_EQ(first_name(split(llama3) + "," + byte_level_step), "dbrx");
  EXPECT_EQ(first_name(split(qwen2) + "," + byte_level_step), "qwen2");
  EXPECT_EQ(first_name(split(R"([\\r\\n])") + "," + split(R"(\\s?\\p{L}+)") + "," +
                       split(R"(\\s?\\p{P}+)") + "," + split("[\u4E00-\u9FA5\u0800-\u4E00]+") +
                       "," + digits + "," + byte_level_step),
            "deepseek-coder");
  EXPECT_EQ(first_name(split(R"( ?[^(\\s|[.,!?])]+)") + "," + byte_level_step), "bloom");
}

TEST(PreStructure, PrefersTheNameOfTheClass) {
  EXPECT_EQ(first_name(byte_level, "PhiForCausalLM"), "phi-2");
  EXPECT_EQ(first_name(digits + "," + byte_level, "CohereForCausalLM"), "command-r");
  EXPECT_EQ(first_name(split(llama3) + "," + byte_level_step, "Glm4ForCausalLM"), "glm4");
}

TEST(PreStructure, HasTheNameThatCarriesItsFlags) {
  EXPECT_EQ(first_name(split(llama3) + "," + byte_level_step, "LlamaForCausalLM",
                       R"("model": {"ignore_merges": true})"),
            "llama-bpe");
  EXPECT_EQ(
      first_name(byte_level, "RobertaModel", R"("post_processor": {"type": "RobertaProcessing"})"),
      "roberta-bpe");
}

TEST(PreStructure, TakesSpellingsThatMeanTheSame) {
  std::string other = qwen2;
  other.replace(0, other.find("|["), "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])");
  EXPECT_EQ(first_name(split(other) + "," + byte_level_step), "qwen2");
}

/// How tiktoken and its converters have written the expression of cl100k (GPT-3.5, GPT-4).
const std::string cl100k_spellings[] = {
    llama3,
    R"((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|)" +
        llama3.substr(llama3.find('|', llama3.find(')')) + 1),
    R"('(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}+|\\p{N}{1,3}|)"
    R"( ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+)",
    R"('(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?+\\p{L}++|\\p{N}{1,3}+|)"
    R"( ?[^\\s\\p{L}\\p{N}]++[\\r\\n]*+|\\s++$|\\s*[\\r\\n]|\\s+(?!\\S)|\\s)",
};

TEST(PreStructure, KnowsTheCutOfCl100kInEveryForm) {
  for (const std::string& expression : cl100k_spellings) {
    for (const char* behavior :
         {R"("behavior": "Isolated", "invert": false)", R"("behavior": "Isolated", "invert": true)",
          R"("behavior": "Removed", "invert": true)"}) {
      const std::string steps = split(expression, behavior) + "," + byte_level_step;
      EXPECT_EQ(first_name(steps), "dbrx") << steps;
      EXPECT_EQ(first_name(steps, "GPT2LMHeadModel"), "dbrx");
      EXPECT_EQ(first_name(R"({"type": "Sequence", "pretokenizers": [)" + steps + "]}"), "dbrx");
    }
    EXPECT_EQ(first_name(split(expression, R"("behavior": "Removed", "invert": false)") + "," +
                         byte_level_step),
              "");
    EXPECT_EQ(first_name(split(expression, R"("behavior": "Contiguous", "invert": true)") + "," +
                         byte_level_step),
              "");
  }
}

TEST(PreStructure, KnowsAPossessiveSpellingOnlyWhereItMatchesTheSame) {
  // These never give back what the rest needs.
  EXPECT_EQ(first_name(split(R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|)"
                             R"(\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*+[\\r\\n]+|)"
                             R"(\\s+(?!\\S)|\\s+)") +
                       "," + byte_level_step),
            "");
  EXPECT_EQ(first_name(split(R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|)"
                             R"(\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|)"
                             R"(\\s++(?!\\S)|\\s+)") +
                       "," + byte_level_step),
            "");
}

TEST(PreStructure, KnowsTheExpressionsOfEveryName) {
  std::size_t removed_count = 0;
  for (const std::string_view name : known_pre_tokenizers()) {
    SCOPED_TRACE(name);
    const auto facts = facts_of_pre_tokenizer(name);
    ASSERT_TRUE(facts);
    if (facts->has_plain_text) continue;
    std::string isolated;
    std::string removed;
    for (const std::string_view expression : facts->expressions) {
      const std::string quoted = nlohmann::json(with_plain_characters(expression)).dump();
      const std::string text = quoted.substr(1, quoted.size() - 2);
      isolated += split(text) + ",";
      removed += split(text, only_matches) + ",";
    }
    const std::string first = first_name(isolated + byte_level_step);
    EXPECT_TRUE(!first.empty() && cut_alike(first, name)) << first;
    // The names are equal only if nothing is lost.
    const std::string of_removed = first_name(removed + byte_level_step);
    EXPECT_TRUE(of_removed.empty() || of_removed == first) << of_removed;
    if (!of_removed.empty()) ++removed_count;
  }
  EXPECT_GT(removed_count, 30u);
}

TEST(PreStructure, HasNoNameThatCutsOtherwise) {
  EXPECT_TRUE(cut_alike("qwen2", "bailingmoe"));
  EXPECT_FALSE(cut_alike("dbrx", "granite-docling"));
  EXPECT_FALSE(cut_alike("gemma4", "gpt-2"));
  EXPECT_THAT(names_of_unknown_structure(),
              testing::AllOf(testing::Contains("kimi-k2"),
                             testing::Not(testing::Contains("granite-docling")),
                             testing::Not(testing::Contains("dbrx"))));
}

TEST(PreStructure, TakesTheExpressionsOfTheEngine) {
  EXPECT_EQ(first_name(split(R"('s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+|)"
                             R"( ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S))") +
                       "," + byte_level_step),
            "gpt-2");
  const std::string seed_coder =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1}|)"
      R"( ?[^\\s\\p{L}\\p{N}\\r\\n]+|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+)";
  EXPECT_EQ(first_name(split(seed_coder) + "," + byte_level_step), "seed-coder");
  EXPECT_EQ(first_name(split(seed_coder)), "");
}

TEST(PreStructure, IsUnknownIfOneStepIs) {
  EXPECT_EQ(first_name(""), "");
  EXPECT_EQ(first_name(split(llama3)), "");
  EXPECT_EQ(first_name(split(llama3 + "|x") + "," + byte_level_step), "");
  EXPECT_EQ(first_name(R"({"type": "Whitespace"},)" + byte_level), "");
  EXPECT_EQ(first_name(R"({"type": "ByteLevel", "add_prefix_space": true})"), "");
  EXPECT_EQ(first_name(split(llama3) + "," + byte_level_step, "LlamaForCausalLM",
                       R"("normalizer": {"type": "NFKC"})"),
            "");
}

TEST(PreDigest, HasTheNameOfAPublishedTokenizer) {
  EXPECT_EQ(name_of_pre_digest("d4540891389ea895b53b399da6ac824becc30f2fba0e9ddbb98f92e55ca0e97c"),
            "qwen2");
  EXPECT_EQ(name_of_pre_digest("0"), "");
}

}  // namespace
}  // namespace ingot::huggingface
