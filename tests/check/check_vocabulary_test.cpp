// SPDX-License-Identifier: MIT
// A vocabulary for each rule about vocabularies, and one that breaks none.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "check/rule_case.hpp"
#include "support/vocabulary_sketch.hpp"
#include "tokenizer/vocabulary/byte_alphabet.hpp"

namespace ingot::test {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

std::vector<RuleCase> vocabulary_cases() {
  std::vector<RuleCase> cases;
  const auto add = [&](const char* rule, const VocabularySketch& sketch) {
    cases.push_back({rule, sketch.bytes()});
  };
  const auto with = [](auto&& change) {
    VocabularySketch sketch = ascii_bpe("gpt-2");
    change(sketch);
    return sketch;
  };
  using Sketch = VocabularySketch;
  add("tokenizer_unusable", with([](Sketch& sketch) { sketch.model = "unheardof"; }));
  add("tokenizer_unusable", Sketch{.model = "plamo2"}.add("a"));  // it needs all bytes
  add("pre_missing", with([](Sketch& sketch) { sketch.pre.clear(); }));
  add("pre_unknown", with([](Sketch& sketch) { sketch.pre = "unheardof"; }));
  add("token_duplicate", with([](Sketch& sketch) { sketch.add("a"); }));
  for (const char* merge : {"a b", "xx a", "a xx", "ab"}) {  // "ab", "xx" are no tokens
    add("merge_unknown", with([&](Sketch& sketch) { sketch.merges = {merge}; }));
  }
  add("byte_missing", ascii_bpe("gpt-2"));  // it has none above 7F
  add("byte_missing", Sketch{.model = "llama"}.add("<unk>", 0.0F, TokenKind::unknown));
  add("byte_missing", Sketch{.model = "rwkv"}.add("ab"));
  add("token_spelling", with([](Sketch& sketch) { sketch.add("\xE4\xB8\xAD"); }));
  for (const char* flag : {"add_bos_token", "add_eos_token", "add_sep_token"}) {
    add("added_token_missing", with([&](Sketch& sketch) {
          sketch.ids.clear();
          sketch.tokens.resize(11);  // the default of bos and eos is 11
          sketch.flags = {{flag, true}};
        }));
  }
  add("special_typed_normal", with([](Sketch& sketch) { sketch.add("<|im_end|>"); }));
  add("special_typed_normal",
      with([](Sketch& sketch) { sketch.add("<pad>").ids.emplace_back("padding", 97); }));
  add("special_ambiguous", with([](Sketch& sketch) {
        sketch.add("<|im_end|>", 0.0F, TokenKind::control);
        sketch.add("<|endoftext|>", 0.0F, TokenKind::control);
      }));
  add("end_is_word", with([](Sketch& sketch) { sketch.ids.emplace_back("eot", 40); }));
  GgufBuilder suppressed;
  suppressed.array_pair<std::string_view>("tokenizer.ggml.tokens", {"a", "b"});
  suppressed.array_pair("tokenizer.ggml.suppress_tokens", {std::int32_t{1}, 2});
  cases.push_back({"token_id_range", suppressed.bytes()});
  return cases;
}

namespace {

TEST(CheckVocabulary, FindsNothingInAWholeVocabulary) {
  // Rules about vocabularies, that is; the sketch has no numbers of an architecture.
  VocabularySketch sketch{.model = "gpt2", .pre = "gpt-2"};
  sketch.add("<s>", 0.0F, TokenKind::control);
  for (int byte = 0; byte < 256; ++byte) {
    sketch.add(tokenizer::token_of_bytes(std::string(1, static_cast<char>(byte))));
  }
  sketch.add("th").add("the").merges = {"t h", "th e"};
  sketch.ids = {{"bos", 0}, {"eos", 0}};
  const auto broken = broken_rules(sketch.bytes());
  for (const CheckRule& rule : check_rules()) {
    const std::string name(rule.name);
    const bool is_of_tokens = name.starts_with("token") || name.starts_with("pre_") ||
                              name.starts_with("special_") || name.starts_with("byte_") ||
                              name.starts_with("added_") || name == "merge_unknown" ||
                              name == "end_is_word";
    if (!is_of_tokens) continue;
    EXPECT_THAT(broken, Not(Contains(name)));
  }
}

TEST(CheckVocabulary, NamesThePreTokenizerThatIsUsual) {
  VocabularySketch sketch = ascii_bpe("");
  sketch.architecture = "qwen2";
  while (sketch.tokens.size() < 151'936) sketch.add("t" + std::to_string(sketch.tokens.size()));
  const auto findings = findings_of(sketch.bytes());
  EXPECT_THAT(findings,
              Contains(testing::Field(&Finding::message,
                                      HasSubstr("qwen2 with 151936 tokens is usually \"qwen2\""))));
}

}  // namespace
}  // namespace ingot::test
