// SPDX-License-Identifier: MIT
#include "huggingface/import/general/general_keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "huggingface/import/general/size_label.hpp"
#include "ingot/store.hpp"
#include "support/expect_error.hpp"

namespace ingot::huggingface {
namespace {

using Files = std::map<std::string, std::string>;

/// The names of the keys of a folder with these files.
Result<std::vector<std::string>> keys_of(const Files& files, const ImportOptions& options = {},
                                         const ParameterCounts& counts = {}) {
  MemoryStore store;
  for (const auto& [name, text] : files) {
    store.add("m/" + name, std::as_bytes(std::span(text)));
  }
  INGOT_TRY(const ModelFolder folder, ModelFolder::open(store, "m"));
  KeyPlan keys;
  INGOT_TRY_VOID(add_general_keys(folder, counts, options, keys));
  std::vector<std::string> names;
  for (const KeyValue& key : keys.entries()) {
    const auto text = key.value.get<std::string_view>();
    names.push_back(std::string(key.key) + (text ? "=" + std::string(*text) : ""));
  }
  return names;
}

TEST(GeneralKeys, ComeFromTheFolderAtLast) {
  const Files files = {{"README.md", "---\nlicense: [mit, apache-2.0]\ntags: []\n---\n"}};
  EXPECT_THAT(keys_of(files).value(),
              testing::ElementsAre("general.name=M", "general.license=mit,apache-2.0"));
}

TEST(GeneralKeys, TakeTheNameInTheFolderItself) {
  const Files files = {{"config.json", R"({"_name_or_path": "org/Base-1B",)"
                                       R"( "text_config": {"_name_or_path": "other"}})"}};
  EXPECT_THAT(keys_of(files).value(),
              testing::ElementsAre("general.name=Base 1B", "general.organization=Org",
                                   "general.basename=Base", "general.size_label=1B"));
}

TEST(GeneralKeys, CountSourcesThatAreNone) {
  const Files files = {{"README.md", "---\nbase_model:\n---\n"}};
  EXPECT_THAT(keys_of(files).value(),
              testing::ElementsAre("general.name=M", "general.base_model.count"));
}

TEST(GeneralKeys, TakeTheOptionsLast) {
  const Files files = {{"README.md", "---\nname: Card\nauthor: A\n---\n"}};
  ImportOptions options;
  options.metadata = R"({"general.name": "Option", "general.author": null})";
  EXPECT_THAT(keys_of(files, options).value(), testing::ElementsAre("general.name=Option"));
  options.model_name = "Name";
  EXPECT_THAT(keys_of(files, options).value(), testing::ElementsAre("general.name=Name"));
}

TEST(GeneralKeys, RefuseNumbersThatAreNone) {
  EXPECT_THAT(keys_of({{"generation_config.json", R"({"top_k": 1.5})"}}),
              test::FailsWith(Errc::import_refused));
  EXPECT_THAT(keys_of({{"generation_config.json", R"({"top_k": 5000000000})"}}),
              test::FailsWith(Errc::import_refused));
  EXPECT_THAT(keys_of({{"generation_config.json", R"({"temperature": "hot"})"}}),
              test::FailsWith(Errc::import_refused));
  ImportOptions options;
  options.metadata = R"({"general.name": 1})";
  EXPECT_THAT(keys_of({{"README.md", ""}}, options), test::FailsWith(Errc::import_refused));
}

TEST(GeneralKeys, ReadTheBeginningOfALongCard) {
  const Files files = {
      {"README.md", "---\nlicense: mit\n---\n" + std::string(std::size_t{3} << 20, 'x')}};
  EXPECT_THAT(keys_of(files).value(), testing::Contains("general.license=mit"));
}

TEST(DefaultFileName, HasNoSlashes) {
  KeyPlan keys;
  keys.set_string("general.name", " my/model x ");
  keys.set_string("general.finetune", "../up");
  EXPECT_EQ(default_file_name(keys, "Q8_0"), "my-model-x-..-up-Q8_0.gguf");
  EXPECT_EQ(default_file_name(KeyPlan(), "F16"), "ggml-model-F16.gguf");
}

TEST(DefaultFileName, SaysThatAnAdapterIsOne) {
  KeyPlan keys;
  keys.set_string("general.type", "adapter");
  keys.set_string("general.name", "Style");
  EXPECT_EQ(default_file_name(keys, "F32"), "Style-F32-LoRA.gguf");
}

TEST(SizeLabel, HasTwoDigits) {
  EXPECT_EQ(size_label({.total = 999}), "1.0K");
  EXPECT_EQ(size_label({.total = 12'345}), "12K");
  EXPECT_EQ(size_label({.total = 99'600'000}), "100M");
  EXPECT_EQ(size_label({.total = 4}), "0.00K");
  EXPECT_EQ(size_label({46'702'792'704, 1'605'619'712, 5'637'146'624, 8}), "8x7.2B");
}

}  // namespace
}  // namespace ingot::huggingface
