// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "ingot/metadata_keys.hpp"

namespace ingot {
namespace {

TEST(MetadataKeys, NamesAreUnique) {
  std::set<std::pair<bool, std::string_view>> names;
  for (const MetadataKeyInfo& key : standard_keys) {
    EXPECT_TRUE(names.insert({key.has_architecture, key.name}).second) << key.name;
    EXPECT_FALSE(key.meaning.empty()) << key.name;
  }
}

TEST(MetadataKeys, FindsKeysOfAnyModel) {
  const MetadataKeyInfo* key = find_key("general.architecture", {});
  ASSERT_NE(key, nullptr);
  EXPECT_EQ(key->form, KeyForm::text);
  EXPECT_EQ(key->name, keys::general_architecture);
  EXPECT_EQ(find_key("general.nothing", "llama"), nullptr);
}

TEST(MetadataKeys, FindsKeysAfterTheArchitecture) {
  const MetadataKeyInfo* key = find_key("llama.block_count", "llama");
  ASSERT_NE(key, nullptr);
  EXPECT_EQ(key->name, suffixes::block_count);
  EXPECT_TRUE(key->has_architecture);
  for (const char* name :
       {"qwen2.block_count", "llama.", "llama", "block_count", "llamablock_count"}) {
    EXPECT_EQ(find_key(name, "llama"), nullptr) << name;
  }
  // A model that calls its architecture "general" has no keys of any model.
  EXPECT_EQ(find_key("general.name", "general"), nullptr);
}

TEST(MetadataKeys, EachFormHasANameAndAType) {
  for (const MetadataKeyInfo& key : standard_keys) {
    EXPECT_FALSE(name_of(key.form).empty()) << key.name;
    const KeyType type = usual_type(key.form);
    EXPECT_NE(type.type, ValueType::array) << key.name;
  }
  EXPECT_EQ(usual_type(KeyForm::integers).type, ValueType::int32);
  EXPECT_TRUE(usual_type(KeyForm::integers).is_array);
  EXPECT_FALSE(usual_type(KeyForm::number_or_list).is_array);
  EXPECT_TRUE(usual_type(KeyForm::number_or_list, true).is_array);
  EXPECT_EQ(usual_type(KeyForm::number_or_flags, true).type, ValueType::boolean);
  EXPECT_FALSE(usual_type(KeyForm::text, true).is_array);
}

TEST(MetadataKeys, RolesOfSpecialTokens) {
  EXPECT_EQ(token_role(keys::tokenizer_ggml_bos_token_id), "bos");
  EXPECT_EQ(token_id_key("bos"), keys::tokenizer_ggml_bos_token_id);
  for (const char* key :
       {"tokenizer.ggml._token_id", "tokenizer.ggml.tokens", "bos_token_id", ""}) {
    EXPECT_EQ(token_role(key), "") << key;
  }
}

}  // namespace
}  // namespace ingot
