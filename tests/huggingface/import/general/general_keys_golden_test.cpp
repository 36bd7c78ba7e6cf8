// SPDX-License-Identifier: MIT
// The keys general.* of made-up folders against the reference converter's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "huggingface/import/general/general_keys.hpp"
#include "ingot/store.hpp"
#include "support/expect_error.hpp"
#include "support/shared_files.hpp"

namespace ingot {
namespace {

using nlohmann::json;

class GeneralKeysGolden : public test::SharedFilesTest {};

/// A value as metadata.json writes it, with all texts as texts.
json plain(const Value& value) {
  if (value.is_array()) {
    json list = json::array();
    for (const Value& element : value.as_array()) list.push_back(plain(element));
    return list;
  }
  if (const auto text = value.get<std::string_view>()) return *text;
  if (const auto whole = value.get<std::int64_t>()) return *whole;
  return value.get<float>().value_or(0);
}

json expected_keys(const json& keys) {
  json list = json::array();
  for (const json& key : keys) {
    json value = key.at("value");
    if (key.at("type") == "str" && !value.is_string()) value = value.dump();
    if (key.at("type") == "f32") value = value.get<float>();
    list.push_back({key.at("key"), value});
  }
  return list;
}

/// A folder in memory, made of what a case says.
struct CaseFolder {
  std::vector<std::string> texts;
  MemoryStore store;

  explicit CaseFolder(const json& wanted) {
    json config = wanted.value("config", json::object());
    config["architectures"] = {"LlamaForCausalLM"};
    texts = {config.dump(), wanted.value("readme", ""),
             wanted.value("generation", json::object()).dump()};
    add("config.json", texts[0]);
    if (wanted.contains("readme")) add("README.md", texts[1]);
    if (wanted.contains("generation")) add("generation_config.json", texts[2]);
  }
  void add(const std::string& name, const std::string& text) {
    store.add("folder/" + name, std::as_bytes(std::span(text)));
  }
};

TEST_F(GeneralKeysGolden, AreThoseOfTheReference) {
  const auto path = test::shared_folder() / "golden" / "hf" / "metadata.json";
  require_files(path);
  if (IsSkipped() || HasFatalFailure()) return;
  std::ifstream file(path);
  for (const json& wanted : json::parse(file)) {
    SCOPED_TRACE(wanted.dump());
    const CaseFolder made(wanted);
    const auto folder =
        huggingface::ModelFolder::open(made.store, "folder", wanted.at("dir").get<std::string>());
    ASSERT_THAT(folder, test::Succeeds());
    huggingface::ParameterCounts counts{.total = wanted.value("params", std::int64_t{0})};
    if (wanted.contains("counts")) {
      const auto list = wanted["counts"].get<std::vector<std::int64_t>>();
      counts = {list[0], list[1], list[2], list[3]};
    }
    ImportOptions options;
    if (wanted.contains("override")) options.metadata = wanted["override"].dump();
    huggingface::KeyPlan keys;
    ASSERT_THAT(huggingface::add_general_keys(*folder, counts, options, keys), test::Succeeds());
    json actual = json::array();
    for (const KeyValue& key : keys.entries()) actual.push_back({key.key, plain(key.value)});
    EXPECT_EQ(actual, expected_keys(wanted.at("keys")));
    EXPECT_EQ(huggingface::default_file_name(keys, "F16"),
              wanted.at("file_name").get<std::string>());
  }
}

}  // namespace
}  // namespace ingot
