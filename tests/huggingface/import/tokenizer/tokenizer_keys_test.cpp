// SPDX-License-Identifier: MIT
#include "huggingface/import/tokenizer/tokenizer_keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include "ingot/store.hpp"
#include "support/expect_error.hpp"

namespace ingot::huggingface {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Files = std::map<std::string, std::string>;

/// A value as one text.
std::string text_of(const Value& value) {
  if (value.is_array()) {
    std::string list;
    for (const Value& element : value.as_array()) {
      list += (list.empty() ? "" : ",") + text_of(element);
    }
    return list;
  }
  if (const auto text = value.get<std::string_view>()) return std::string(*text);
  if (const auto flag = value.get<bool>()) return *flag ? "true" : "false";
  if (const auto whole = value.get<std::int64_t>()) return std::to_string(*whole);
  return std::to_string(value.get<float>().value_or(0));
}

/// A folder in memory, imported by one step.
struct Import {
  std::vector<Error> remarks;

  Result<std::vector<std::string>> run(const Files& files, const std::string& step,
                                       const std::string& config = "{}",
                                       const ImportOptions& options = {}) {
    MemoryStore store;
    for (const auto& [name, text] : files) {
      store.add("m/" + name, std::as_bytes(std::span(text)));
    }
    const std::string whole = R"({"architectures": ["LlamaForCausalLM"])" +
                              (config == "{}" ? "}" : "," + config.substr(1));
    store.add("m/config.json", std::as_bytes(std::span(whole)));
    INGOT_TRY(const ModelFolder folder, ModelFolder::open(store, "m"));
    INGOT_TRY(const Config parsed, Config::read(folder));
    KeyPlan keys;
    INGOT_TRY_VOID(add_tokenizer_keys(folder, parsed, "llama", {step}, options, keys, remarks));
    std::vector<std::string> list;
    for (const KeyValue& key : keys.entries()) {
      list.push_back(std::string(key.key.substr(std::string_view("tokenizer.").size())) + "=" +
                     text_of(key.value));
    }
    return list;
  }
};

Result<std::vector<std::string>> import_of(const Files& files, const std::string& step,
                                           const std::string& config = "{}") {
  return Import().run(files, step, config);
}

/// tokenizer.json of BPE over the tokens a, b and ab.
std::string bpe_json(const std::string& more = "", const std::string& merges = R"(["a b"])") {
  return R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": )" + merges +
         R"(}, "pre_tokenizer": {"type": "ByteLevel"})" + more + "}";
}

std::string added(const std::string& text, int id, bool is_special) {
  return R"({"content": ")" + text + R"(", "id": )" + std::to_string(id) + R"(, "special": )" +
         (is_special ? "true}" : "false}");
}

const std::string two_added =
    R"(, "added_tokens": [)" + added("<s>", 3, true) + "," + added("</s>", 4, true) + "]";

std::string framed(const std::string& single, const std::string& pair) {
  return two_added + R"(, "post_processor": {"type": "TemplateProcessing", "single": [)" + single +
         R"(], "pair": [)" + pair + "]}";
}

const std::string bos = R"({"SpecialToken": {"id": "<s>"}})";
const std::string eos = R"({"SpecialToken": {"id": "</s>"}})";
const std::string first_text = R"({"Sequence": {"id": "A"}})";
const std::string second_text = R"({"Sequence": {"id": "B"}})";

TEST(TokenizerKeys, AreTokensKindsAndMerges) {
  EXPECT_THAT(import_of({{"tokenizer.json", bpe_json()}}, "gpt2").value(),
              ElementsAre("ggml.model=gpt2", "ggml.pre=gpt-2", "ggml.tokens=a,b,ab",
                          "ggml.token_type=1,1,1", "ggml.merges=a b"));
}

TEST(TokenizerKeys, FillTheVocabularyUpToItsSize) {
  const std::string json = bpe_json(R"(, "added_tokens": [)" + added("x\xE2\x96\x81y", 4, false) +
                                    "," + added("<|x|>", 3, false) + "]");
  const auto keys = import_of({{"tokenizer.json", json}}, "gpt2", R"({"vocab_size": 6})");
  ASSERT_THAT(keys, test::Succeeds());
  EXPECT_THAT(*keys, testing::IsSupersetOf(
                         {"ggml.tokens=a,b,ab,<|x|>,x y,[PAD5]", "ggml.token_type=1,1,1,3,4,5"}));
}

TEST(TokenizerKeys, RefuseIdsBeyondTheVocabulary) {
  const auto keys = import_of({{"tokenizer.json", bpe_json()}}, "gpt2", R"({"vocab_size": 2})");
  EXPECT_THAT(keys, test::FailsWith(Errc::import_refused));
  EXPECT_THAT(keys.error().detail, HasSubstr("\"ab\" has the id 2"));
}

TEST(TokenizerKeys, TakeMergesOfEveryForm) {
  const auto merges = [](const Files& files) { return import_of(files, "gpt2").value().back(); };
  EXPECT_EQ(merges({{"tokenizer.json", bpe_json("", R"([["a", " b"]])")}}),
            "ggml.merges=a \xC4\xA0"
            "b");
  EXPECT_EQ(merges({{"tokenizer.json", bpe_json("", "[]")},
                    {"merges.txt", "#version: 0.2\r\na b\r\n\r\n# ab\nx y z\n"}}),
            "ggml.merges=a b,# ab");
}

TEST(TokenizerKeys, TakeTheOlderFiles) {
  const Files files = {{"vocab.json", R"({"a": 0, "b": 1, "<e>": 2})"},
                       {"merges.txt", "a b\n"},
                       {"special_tokens_map.json", R"({"eos_token": "<e>"})"},
                       {"tokenizer_config.json", R"({"tokenizer_class": "GPT2Tokenizer"})"}};
  EXPECT_THAT(import_of(files, "gpt2").value(),
              ElementsAre("ggml.model=gpt2", "ggml.pre=gpt-2", "ggml.tokens=a,b,<e>",
                          "ggml.token_type=1,1,3", "ggml.merges=a b"));
  EXPECT_THAT(import_of({{"vocab.txt", "[PAD]\r\na\r\n##b\r\n"},
                         {"tokenizer_config.json", R"({"pad_token": "[PAD]"})"}},
                        "bert")
                  .value(),
              testing::IsSupersetOf({"ggml.tokens=[PAD],\xE2\x96\x81"
                                     "a,b",
                                     "ggml.token_type=3,1,1", "ggml.pre=jina-v2-en"}));
}

TEST(TokenizerKeys, ReadTheFrameOfATemplate) {
  const std::string json =
      bpe_json(framed(bos + "," + first_text + "," + eos, bos + "," + first_text + "," + eos + "," +
                                                              eos + "," + second_text + "," + eos));
  const auto keys = import_of(
      {{"tokenizer.json", json}, {"tokenizer_config.json", R"({"eos_token": "</s>"})"}}, "gpt2");
  ASSERT_THAT(keys, test::Succeeds());
  const std::vector<std::string> tail(keys->begin() + 5, keys->end());
  EXPECT_THAT(tail, ElementsAre("ggml.bos_token_id=3", "ggml.eos_token_id=4",
                                "ggml.seperator_token_id=4", "ggml.add_bos_token=true",
                                "ggml.add_eos_token=true", "ggml.add_sep_token=true"));
}

TEST(TokenizerKeys, KeepTheOldEndAsTheEndOfATurn) {
  const std::string json = bpe_json(framed(first_text + "," + eos, ""));
  const auto keys = import_of(
      {{"tokenizer.json", json}, {"tokenizer_config.json", R"({"eos_token": "<s>"})"}}, "gpt2");
  ASSERT_THAT(keys, test::Succeeds());
  EXPECT_THAT(*keys, testing::IsSupersetOf({"ggml.eos_token_id=4", "ggml.eot_token_id=3",
                                            "ggml.add_eos_token=true"}));
}

TEST(TokenizerKeys, LetSwitchesReplaceTheFrame) {
  const std::string json = bpe_json(framed(bos + "," + first_text, ""));
  const auto keys =
      import_of({{"tokenizer.json", json},
                 {"tokenizer_config.json", R"({"bos_token": "<s>", "add_bos_token": false})"}},
                "gpt2");
  ASSERT_THAT(keys, test::Succeeds());
  EXPECT_EQ(keys->back(), "ggml.add_bos_token=false");
}

TEST(TokenizerKeys, TakeIdsOfTheConfigurationLast) {
  const std::string config = R"({"bos_token_id": 1, "eos_token_id": [1, 2], "pad_token_id": -1})";
  Import import;
  const auto keys = import.run({{"tokenizer.json", bpe_json(two_added)},
                                {"tokenizer_config.json", R"({"unk_token": "<s>"})"}},
                               "gpt2", config);
  ASSERT_THAT(keys, test::Succeeds());
  const std::vector<std::string> tail(keys->begin() + 5, keys->end());
  EXPECT_THAT(tail, ElementsAre("ggml.unknown_token_id=3", "ggml.bos_token_id=1"));
  ASSERT_EQ(import.remarks.size(), 1u);
  EXPECT_THAT(import.remarks[0].detail, HasSubstr("pad token has the id -1"));
}

TEST(TokenizerKeys, HaveTemplatesWithNames) {
  const std::string list =
      R"({"chat_template": [{"name": "default", "template": "d"},)"
      R"( {"name": "tool use", "template": "t"}, {"name": "e", "template": ""}]})";
  const auto keys =
      import_of({{"tokenizer.json", bpe_json()}, {"tokenizer_config.json", list}}, "gpt2");
  ASSERT_THAT(keys, test::Succeeds());
  const std::vector<std::string> tail(keys->begin() + 5, keys->end());
  EXPECT_THAT(
      tail, ElementsAre("chat_template.tool_use=t", "chat_templates=tool_use", "chat_template=d"));
}

TEST(TokenizerKeys, HaveTemplatesOfTheirOwnFiles) {
  const Files files = {{"tokenizer.json", bpe_json()},
                       {"tokenizer_config.json", R"({"model_max_length": 1})"},
                       {"chat_template.jinja", "d\r\ne"},
                       {"additional_chat_templates/rag.jinja", "r"}};
  const auto keys = import_of(files, "gpt2");
  ASSERT_THAT(keys, test::Succeeds());
  const std::vector<std::string> tail(keys->begin() + 5, keys->end());
  EXPECT_THAT(tail, ElementsAre("chat_template.rag=r", "chat_templates=rag", "chat_template=d\ne"));
}

TEST(TokenizerKeys, OfXverseNameBytesAndSpecialTokens) {
  const std::string tokenizer = R"({"model": {"type": "BPE", "merges": [],
      "vocab": {"\u0000": 0, "<0x0A>": 1, "a": 2, "<|x|>": 3, "s": 4}},
      "added_tokens": [{"id": 3, "content": "<|x|>", "special": false},
                       {"id": 4, "content": "s", "special": true}]})";
  const auto keys = Import().run({{"tokenizer.json", tokenizer}}, "xverse");
  ASSERT_THAT(keys, test::Succeeds());
  EXPECT_THAT(*keys,
              ElementsAre("ggml.model=llama", "ggml.pre=default",
                          "ggml.tokens=<b'\\x00'>,<0x0A>,a,<|x|>,s", "ggml.token_type=6,6,1,4,3"));
  EXPECT_THAT(Import().run({}, "xverse"), test::FailsWith(Errc::import_refused));
}

TEST(TokenizerKeys, OfSpeechEndTurnsAndTextsAlike) {
  const Files files = {
      {"tokenizer_config.json", R"({"added_tokens_decoder": {"7": {"content": "<|im_end|>"}}})"}};
  const auto keys = Import().run(files, "chat_end_alone");
  ASSERT_THAT(keys, test::Succeeds());
  EXPECT_THAT(*keys, ElementsAre("ggml.bos_token_id=7", "ggml.eos_token_id=7"));
  const auto chat = Import().run(files, "chatml");
  ASSERT_THAT(chat, test::Succeeds());
  EXPECT_THAT(*chat, ElementsAre(testing::AllOf(testing::StartsWith("chat_template={% for"),
                                                HasSubstr("<|im_end|>' + '\\n'}}"))));
}

TEST(TokenizerKeys, RefuseAPreTokenizerThatIsUnknown) {
  std::string json = bpe_json();
  json.replace(json.find("ByteLevel"), 9, "Whitespace");
  const auto keys = import_of({{"tokenizer.json", json}}, "gpt2");
  EXPECT_THAT(keys, test::FailsWith(Errc::pre_tokenizer_unknown));
  EXPECT_THAT(keys.error().detail, HasSubstr("--pre"));
  ImportOptions options;
  options.pre = "default";
  Import import;
  EXPECT_THAT(import.run({{"tokenizer.json", json}}, "gpt2", "{}", options), test::Succeeds());
  EXPECT_EQ(import.remarks.size(), 1u);
}

TEST(TokenizerKeys, RefuseWhatIsNoTokenizer) {
  const auto fails = [](const Files& files, const char* step) { return import_of(files, step); };
  EXPECT_THAT(fails({}, "llama"), test::FailsWith(Errc::import_refused));
  EXPECT_THAT(fails({{"tekken.json", "{}"}}, "llama"), test::FailsWith(Errc::import_refused));
  EXPECT_THAT(fails({{"tokenizer.json", R"({"model": {"type": "Unigram", "vocab": []}})"}}, "gpt2"),
              test::FailsWith(Errc::import_refused));
  EXPECT_THAT(fails({{"tokenizer.json", R"({"model": {"vocab": {"a": -1}}})"}}, "gpt2"),
              test::FailsWith(Errc::import_refused));
  EXPECT_THAT(fails({{"tokenizer.json", R"({"model": {"vocab": {"a": "x"}}})"}}, "gpt2"),
              test::FailsWith(Errc::import_refused));
  EXPECT_THAT(
      fails({{"tokenizer.json", bpe_json(R"(, "added_tokens": [{"id": 9999999}])")}}, "gpt2"),
      test::FailsWith(Errc::import_refused));
  EXPECT_THAT(fails({{"tokenizer.json", bpe_json("", R"([["a"]])")}}, "gpt2"),
              test::FailsWith(Errc::import_refused));
  EXPECT_THAT(import_of({{"tokenizer.json", bpe_json()}}, "gpt2", R"({"vocab_size": 1e15})"),
              test::FailsWith(Errc::import_refused));
}

}  // namespace
}  // namespace ingot::huggingface
