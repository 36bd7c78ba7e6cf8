// SPDX-License-Identifier: MIT
// The files of Hugging Face's libraries from small vocabularies. Whether the libraries give the
// same ids: tests/tokenizer/check_tokenizer_json.py.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "ingot/tokenizer_export.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"
#include "support/vocabulary_sketch.hpp"

namespace ingot::test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string space = "\xE2\x96\x81";  // U+2581

Result<TokenizerExport> exported(const VocabularySketch& sketch) {
  const Bytes bytes = sketch.bytes();
  INGOT_TRY(const Model model, Model::open_memory(bytes));
  INGOT_TRY(const Tokenizer tokenizer, Tokenizer::make(model));
  return export_tokenizer(model, tokenizer);
}

json document_of(const VocabularySketch& sketch) {
  const auto files = exported(sketch);
  EXPECT_THAT(files, Succeeds());
  return files ? json::parse(files->tokenizer) : json();
}

VocabularySketch bpe() {
  VocabularySketch sketch{.model = "gpt2", .pre = "qwen2"};
  for (const char* text : {"a", "b", "c", "ab", "abc"}) sketch.add(text);
  sketch.add("<end>", 0, TokenKind::control).add("<tool>", 0, TokenKind::user_defined);
  sketch.merges = {"a b", "ab c", "a b", "b c"};
  sketch.ids = {{"eos", 5}, {"bos", 5}};
  return sketch;
}

VocabularySketch spm() {
  VocabularySketch sketch{.model = "llama"};
  sketch.add("<unk>", 0, TokenKind::unknown).add("<s>", 0, TokenKind::control);
  sketch.add("</s>", 0, TokenKind::control).add_bytes();
  float score = 0;
  for (const auto& text : {space + "ab", std::string("ab"), space + "a"}) sketch.add(text, --score);
  for (const auto& text : {space, std::string("a"), std::string("b")}) sketch.add(text, -10);
  return sketch;
}

TEST(ExportTokenizer, LeavesOutMergesThatTheLibraryRefusesOrRanksTwice) {
  const auto files = exported(bpe());
  ASSERT_THAT(files, Succeeds());
  const json model = json::parse(files->tokenizer)["model"];
  EXPECT_EQ(model["merges"], json::parse(R"([["a", "b"], ["ab", "c"]])"));
  EXPECT_EQ(model["vocab"]["<tool>"], 6);
  EXPECT_EQ(model["byte_fallback"], false);
  EXPECT_THAT(files->warnings,
              ElementsAre(HasSubstr("1 merges of texts that are no tokens"), HasSubstr("bytes")));
}

TEST(ExportTokenizer, ListsAddedTokensAndThoseThatAreSpecial) {
  const json added = document_of(bpe())["added_tokens"];
  ASSERT_EQ(added.size(), 2u);
  EXPECT_EQ(added[0]["content"], "<end>");
  EXPECT_EQ(added[0]["special"], true);
  EXPECT_EQ(added[1]["id"], 6);
  EXPECT_EQ(added[1]["special"], false);
}

TEST(ExportTokenizer, CutsTextsByTheExpressionsOfThePreTokenizer) {
  const json steps = document_of(bpe())["pre_tokenizer"]["pretokenizers"];
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0]["pattern"]["Regex"], facts_of_pre_tokenizer("qwen2")->expressions[0]);
  EXPECT_EQ(steps[1]["type"], "ByteLevel");
}

TEST(ExportTokenizer, KeepsSpacesWhereTokensHoldTheirText) {
  VocabularySketch sketch = bpe();
  sketch.model = sketch.pre = "gemma4";
  sketch.add("\n").add("\n\n").add("\n\n\n");
  const json document = document_of(sketch);
  EXPECT_EQ(document["normalizer"]["content"], space);
  EXPECT_EQ(document["model"]["byte_fallback"], true);
  EXPECT_EQ(document["decoder"]["type"], "Sequence");
  const json newlines = json::parse(R"([["\n", "\n"], ["\n\n", "\n"]])");
  EXPECT_EQ(json::array({document["model"]["merges"][2], document["model"]["merges"][3]}),
            newlines);
}

TEST(ExportTokenizer, PutsItsFrameAroundEachTextOfAPair) {
  VocabularySketch sketch = spm();
  sketch.flags = {{"add_eos_token", true}};
  const json processor = document_of(sketch)["post_processor"];
  std::vector<std::string> pair;
  for (const json& item : processor["pair"]) {
    const json& content = item.contains("Sequence") ? item["Sequence"] : item["SpecialToken"];
    pair.push_back(content["id"].get<std::string>() + content["type_id"].dump());
  }
  EXPECT_THAT(pair, ElementsAre("<s>0", "A0", "</s>0", "<s>1", "B1", "</s>1"));
  EXPECT_EQ(processor["single"].size(), 3u);
  EXPECT_EQ(processor["special_tokens"]["</s>"]["ids"], json::array({2}));
  EXPECT_TRUE(document_of(bpe())["post_processor"].is_null());
}

TEST(ExportTokenizer, MakesMergesOfScores) {
  const auto files = exported(spm());
  ASSERT_THAT(files, Succeeds());
  const json document = json::parse(files->tokenizer);
  const json merges = json::array({{space + "a", "b"}, {space, "ab"}, {"a", "b"}, {space, "a"}});
  EXPECT_EQ(document["model"]["merges"], merges);
  EXPECT_EQ(document["model"]["unk_token"], "<unk>");
  EXPECT_EQ(document["normalizer"]["normalizers"][0]["prepend"], space);
  EXPECT_EQ(document["decoder"]["decoders"].back()["type"], "Strip");
  EXPECT_THAT(files->warnings, IsEmpty());
  VocabularySketch equal = spm();
  equal.tokens[260].score = equal.tokens[259].score;
  EXPECT_THAT(exported(equal)->warnings, ElementsAre(HasSubstr("equal scores")));
}

TEST(ExportTokenizer, TakesNoMergesFromLongTokens) {
  VocabularySketch sketch = spm();
  sketch.add(std::string(600, 'a') + "b", -3).add(std::string(600, 'a'), -4);
  EXPECT_EQ(document_of(sketch)["model"]["merges"].size(), 4u);
}

TEST(ExportTokenizer, SpellsWordPiecesAsTheirAuthorsDid) {
  VocabularySketch sketch{.model = "bert"};
  sketch.add("[UNK]", 0, TokenKind::unknown).add("[CLS]", 0, TokenKind::control);
  sketch.add("[SEP]", 0, TokenKind::control).add(space + "word").add("s");
  sketch.ids = {{"bos", 1}, {"seperator", 2}, {"unknown", 0}};
  const auto files = exported(sketch);
  ASSERT_THAT(files, Succeeds());
  const json document = json::parse(files->tokenizer);
  const json vocabulary = {{"[UNK]", 0}, {"[CLS]", 1}, {"[SEP]", 2}, {"word", 3}, {"##s", 4}};
  EXPECT_EQ(document["model"]["vocab"], vocabulary);
  EXPECT_EQ(document["normalizer"]["lowercase"], true);
  EXPECT_EQ(document["post_processor"]["single"].size(), 3u);
  EXPECT_EQ(json::parse(files->special_tokens)["cls_token"], "[CLS]");
}

TEST(ExportTokenizer, HidesTokensFromTheLatticeOfUnigrams) {
  VocabularySketch sketch{.model = "t5"};
  sketch.add("<pad>", 0, TokenKind::control).add("</s>", 0, TokenKind::control);
  sketch.add("<unk>", 0, TokenKind::unknown).add(space + "a", -2.5F).add("b", -4);
  sketch.add("<mine>", -7, TokenKind::user_defined);
  sketch.flags = {{"remove_extra_whitespaces", true}};
  const json document = document_of(sketch);
  EXPECT_EQ(document["model"]["unk_id"], 2);
  EXPECT_EQ(document["model"]["vocab"][2], json::array({"<unk>", -107.0}));
  EXPECT_EQ(document["model"]["vocab"][3], json::array({space + "a", -2.5}));
  EXPECT_EQ(document["model"]["vocab"][5], json::array({"<mine>", 0.0}));
  EXPECT_EQ(document["normalizer"]["normalizers"].size(), 4u);
}

TEST(ExportTokenizer, NamesSpecialTokensAndTemplatesInItsConfiguration) {
  VocabularySketch sketch = bpe();
  sketch.chat_template = "{{ bos_token }}";
  const auto files = exported(sketch);
  ASSERT_THAT(files, Succeeds());
  const json configuration = json::parse(files->configuration);
  EXPECT_EQ(configuration["eos_token"], "<end>");
  EXPECT_EQ(configuration["add_bos_token"], false);
  EXPECT_EQ(configuration["clean_up_tokenization_spaces"], false);
  EXPECT_EQ(configuration["chat_template"], sketch.chat_template);
  EXPECT_EQ(files->chat_template, sketch.chat_template);
}

TEST(ExportTokenizer, RefusesWhatTheFormCannotExpress) {
  VocabularySketch sketch = bpe();
  sketch.model = "hybriddna";
  EXPECT_THAT(exported(sketch), FailsWith(Errc::tokenizer_unknown));
  sketch = bpe().add("\xE2\x96!");
  const auto files = exported(sketch);
  ASSERT_THAT(files, FailsWith(Errc::tokenizer_invalid));
  EXPECT_THAT(files.error().detail, HasSubstr("token 7"));
}

TEST(ExportTokenizer, WritesAllFilesOrNone) {
  const TemporaryFolder folder;
  VocabularySketch sketch = bpe();
  sketch.chat_template = "{{ messages }}";
  ASSERT_THAT(exported(sketch)->write(folder.path("out")), Succeeds());
  EXPECT_TRUE(std::filesystem::exists(folder.path("out/chat_template.jinja")));
  const auto other = exported(bpe());
  EXPECT_THAT(other->write(folder.path("out")), FailsWith(Errc::already_exists));
  ASSERT_THAT(other->write(folder.path("out/tokenizer.json"), true), Succeeds());
  EXPECT_FALSE(std::filesystem::exists(folder.path("out/chat_template.jinja")));
  EXPECT_TRUE(std::filesystem::exists(folder.path("out/special_tokens_map.json")));
}

}  // namespace
}  // namespace ingot::test
