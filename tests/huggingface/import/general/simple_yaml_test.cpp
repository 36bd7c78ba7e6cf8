// SPDX-License-Identifier: MIT
// What systems without libyaml make of model cards: the same values, or a refusal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "huggingface/import/general/card_parser.hpp"
#include "support/expect_error.hpp"

namespace ingot::huggingface {
namespace {

using test::FailsWith;

std::string shown(const CardValue& value) {
  std::string text = std::to_string(static_cast<int>(value.kind)) + "<" + value.text + ">";
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    text += (i < value.names.size() ? value.names[i] + "=" : "-") + shown(value.items[i]) + ",";
  }
  return text;
}

TEST(SimpleYaml, ReadsWhatCardsHaveAsLibyamlDoes) {
  for (const char* text : {
           "license: mit\ntags:\n- a\n- \"b\"\n",
           "a:\n  b:\n    c: d\n  e: f\ng: h # comment\n# comment\n\ni: 'it''s'\n",
           "a: [x, \"y, z\", 'w']\nb: []\nc:\nd: ~\ne: null\nf: \"\"\n",
           "model-index:\n- name: m\n  results:\n  - task:\n      type: t\n    dataset:\n"
           "      name: d\n      type: e\n    metrics:\n    - type: acc\n      value: 0.5\n- name: "
           "n\n",
           "a:\n  - x\n  -\n    k: v\n  - - p\n    - q\nb: y\n",
           "text: one\n  two\n  three\nnext: x\n",
           "a: |\n  one\n    two\n\n  three\nb: |-\n  x\nc: |+\n  y\n\nd: z\n",
           "a: >\n  one\n  two\n\n  three\n    deeper\n  four\nb: >-\n  x\n  y\n",
           "\"quoted name\": 1\n'b': \"tab\\tend\\\\ \\\"q\\\"\"\nurl: https://example.org/a#b\n",
           "---\na: b\n",
           "a: b\n...\nc: d\n",
           "time: 12:30\nempty: {x}y\n",
           "",
       }) {
    const auto expected = parse_card(text, "README.md", 1);
    const auto simple = parse_simple_card(text, "README.md", 1);
    if (!expected) continue;
    ASSERT_TRUE(simple || simple.error().detail.find("simple forms") != std::string::npos) << text;
    if (simple) {
      EXPECT_EQ(shown(*simple), shown(*expected)) << text;
    }
  }
}

TEST(SimpleYaml, RefusesWhatElseYamlHasWithItsLine) {
  for (const char* text : {"a: b\nc: &x d\n", "a: b\nc: *x\n", "a: b\nc: {d: e}\n",
                           "a: b\nc: !!str d\n", "a: b\nc: \"open\n", "a: b\nc: [d,\n",
                           "a: b\n  c: d\n", "a: b\nno colon\n", "a:\n  b: c\n d: e\n"}) {
    const auto card = parse_simple_card(text, "README.md", 5);
    ASSERT_THAT(card, FailsWith(Errc::import_refused)) << text;
    EXPECT_GE(card.error().line, 6U) << text;
  }
  std::string deep;
  for (std::size_t i = 0; i < 100; ++i) deep += std::string(i, ' ') + "a:\n";
  EXPECT_THAT(parse_simple_card(deep, "README.md", 1), FailsWith(Errc::limit_exceeded));
}

}  // namespace
}  // namespace ingot::huggingface
