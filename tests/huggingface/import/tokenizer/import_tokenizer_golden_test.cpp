// SPDX-License-Identifier: MIT
// The keys of tokenizers against the reference converter's, by digest and in order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "huggingface/import/tokenizer/pre_check.hpp"
#include "huggingface/import/tokenizer/tokenizer_keys.hpp"
#include "ingot/digest.hpp"
#include "ingot/store.hpp"
#include "support/expect_error.hpp"
#include "support/shared_files.hpp"

namespace ingot {
namespace {

using huggingface::Config;
using huggingface::KeyPlan;
using huggingface::ModelFolder;
using nlohmann::json;

json read_json_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return json::parse(file);
}

void append(std::vector<std::byte>& bytes, std::uint64_t number, std::size_t size_bytes) {
  for (std::size_t i = 0; i < size_bytes; ++i) bytes.push_back(std::byte(number >> (8 * i)));
}

/// The digest of a value as a file stores it: type, then the value.
std::string digest_of_value(const Value& value) {
  std::vector<std::byte> bytes;
  append(bytes, static_cast<std::uint64_t>(value.type()), 4);
  if (value.is_array()) {
    append(bytes, static_cast<std::uint64_t>(value.as_array().element_type()), 4);
    append(bytes, value.as_array().size(), 8);
  }
  if (value.type() == ValueType::string) append(bytes, value.bytes().size(), 8);
  bytes.insert(bytes.end(), value.bytes().begin(), value.bytes().end());
  return digest_of(DigestAlgorithm::sha256, bytes);
}

const std::filesystem::path& golden() {
  static const std::filesystem::path folder = test::shared_folder() / "golden" / "hf";
  return folder;
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  if (!std::filesystem::is_directory(golden() / "cases")) return {"llama-spm"};
  for (const auto& entry : std::filesystem::directory_iterator(golden() / "cases")) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The entry of architectures.json for a model's class.
json entry_of(const std::string& model_class) {
  const json file = read_json_file(golden() / "architectures.json");
  for (const json& entry : file.at("architectures")) {
    for (const auto& known : entry.at("classes")) {
      if (known == model_class) return entry;
    }
  }
  return {};
}

class ImportTokenizerGolden : public test::SharedFilesTest,
                              public testing::WithParamInterface<std::string> {
 protected:
  void SetUp() override { require_files(golden() / "cases" / GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Cases, ImportTokenizerGolden, testing::ValuesIn(case_names()),
                         [](const auto& golden_case) {
                           std::string name = golden_case.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(ImportTokenizerGolden, GivesTheKeysOfTheReference) {
  const auto folder_of_case = golden() / "cases" / GetParam();
  const json expected = read_json_file(folder_of_case / "expected.json");
  if (expected.value("kind", "") == "lora") GTEST_SKIP() << "an adapter has no tokenizer";
  const std::string input = folder_of_case / expected.at("input").get<std::string>();
  const auto folder = ModelFolder::open(file_system(), input);
  ASSERT_THAT(folder, test::Succeeds());
  const auto config = Config::read(*folder);
  ASSERT_THAT(config, test::Succeeds());
  const json entry = entry_of(config->model_class());
  KeyPlan keys;
  std::vector<Error> remarks;
  const auto outcome = huggingface::add_tokenizer_keys(
      *folder, *config, entry.at("arch").get<std::string>(),
      entry.at("vocab").get<std::vector<std::string>>(), {.as_reference = true}, keys, remarks);
  ASSERT_THAT(outcome, test::Succeeds());

  // Between these two come keys of the tokenizer that the architecture itself writes.
  std::size_t behind = entry.contains("keys_after_vocab") ? entry["keys_after_vocab"].size() : 0;
  std::vector<std::pair<std::string, std::string>> wanted;
  bool is_tokenizer = false;
  for (const json& key : expected.at("outputs").begin()->at("keys")) {
    if (is_tokenizer) wanted.emplace_back(key.at("key"), key.at("sha256"));
    is_tokenizer = is_tokenizer || key.at("key") == "general.quantization_version";
  }
  wanted.resize(wanted.size() - behind);
  std::vector<std::pair<std::string, std::string>> actual;
  for (const KeyValue& key : keys.entries()) {
    actual.emplace_back(key.key, digest_of_value(key.value));
  }
  EXPECT_EQ(actual, wanted);
}

TEST_P(ImportTokenizerGolden, EncodesTheCheckTextAsTheOriginalLibrary) {
  const auto folder_of_case = golden() / "cases" / GetParam();
  const json expected = read_json_file(folder_of_case / "expected.json");
  if (!expected.contains("pre_check")) GTEST_SKIP() << "there is no tokenizer.json";
  const auto folder =
      ModelFolder::open(file_system(), folder_of_case / expected.at("input").get<std::string>());
  ASSERT_THAT(folder, test::Succeeds());
  const auto config = Config::read(*folder);
  ASSERT_THAT(config, test::Succeeds());
  KeyPlan keys;
  std::vector<Error> remarks;
  const json entry = entry_of(config->model_class());
  ASSERT_THAT(huggingface::add_tokenizer_keys(*folder, *config, entry.at("arch").get<std::string>(),
                                              entry.at("vocab").get<std::vector<std::string>>(), {},
                                              keys, remarks),
              test::Succeeds());
  const auto header = keys.writer().serialise_header();
  ASSERT_THAT(header, test::Succeeds());
  const auto model = Model::open_memory(*header);
  ASSERT_THAT(model, test::Succeeds());
  const auto tokenizer = Tokenizer::make(*model);
  ASSERT_THAT(tokenizer, test::Succeeds());
  const auto tree = huggingface::read_tree(*folder, "tokenizer.json");
  ASSERT_THAT(tree, test::Succeeds());
  EXPECT_EQ(huggingface::pre_check_digest(*tokenizer, tree->root()),
            expected.at("pre_check").at("check_text_ids_sha256").get<std::string>());
}

}  // namespace
}  // namespace ingot
