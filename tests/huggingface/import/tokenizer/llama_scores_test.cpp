// SPDX-License-Identifier: MIT
// A tokenizer.json of the Llama kind without tokenizer.model: scores from the ranks of its merges.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "huggingface/import/tokenizer/tokenizer_keys.hpp"
#include "ingot/model.hpp"
#include "ingot/store.hpp"
#include "ingot/tokenizer.hpp"
#include "support/expect_error.hpp"
#include "support/random.hpp"

namespace ingot::huggingface {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

/// A vocabulary: `<unk>`, then texts, and pairs in the order of their ranks.
struct Sketch {
  std::vector<std::string> texts;
  std::vector<std::pair<std::string, std::string>> merges;

  [[nodiscard]] std::string tokenizer_json() const {
    nlohmann::json vocabulary = {{"<unk>", 0}};
    for (const std::string& text : texts) vocabulary[text] = vocabulary.size();
    nlohmann::json pairs = nlohmann::json::array();
    for (const auto& [left, right] : merges) pairs.push_back(left + " " + right);
    return nlohmann::json{
        {"model",
         {{"type", "BPE"}, {"byte_fallback", true}, {"vocab", vocabulary}, {"merges", pairs}}},
        {"decoder", {{"type", "Sequence"}}}}
        .dump();
  }
  [[nodiscard]] std::size_t id_of(const std::string& text) const {
    return static_cast<std::size_t>(std::ranges::find(texts, text) - texts.begin()) + 1;
  }

  /// The ids as the merges give them: the pair of the lowest rank first, the leftmost of those.
  [[nodiscard]] std::vector<TokenId> merged(std::string_view text) const {
    std::vector<std::string> parts;
    for (const char letter : text) parts.emplace_back(1, letter);
    for (;;) {
      std::size_t best_rank = merges.size();
      std::size_t best = 0;
      for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
        const auto rank = static_cast<std::size_t>(
            std::ranges::find(merges, std::pair(parts[i], parts[i + 1])) - merges.begin());
        if (rank < best_rank) best_rank = rank, best = i;
      }
      if (best_rank == merges.size()) break;
      parts[best] += parts[best + 1];
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
    }
    std::vector<TokenId> ids;
    for (const std::string& part : parts) ids.push_back(static_cast<TokenId>(id_of(part)));
    return ids;
  }
};

/// The keys that the import of a folder makes, and its remarks.
struct Imported {
  KeyPlan keys;
  std::vector<Error> remarks;

  explicit Imported(const Sketch& sketch, bool as_reference = false) {
    MemoryStore store;
    const std::string tokenizer = sketch.tokenizer_json();
    const std::string config = R"({"architectures": ["LlamaForCausalLM"]})";
    const std::string settings = R"({"unk_token": "<unk>", "add_prefix_space": false})";
    store.add("m/tokenizer.json", std::as_bytes(std::span(tokenizer)));
    store.add("m/config.json", std::as_bytes(std::span(config)));
    store.add("m/tokenizer_config.json", std::as_bytes(std::span(settings)));
    const auto folder = ModelFolder::open(store, "m");
    EXPECT_THAT(folder, test::Succeeds());
    const auto parsed = Config::read(*folder);
    EXPECT_THAT(parsed, test::Succeeds());
    EXPECT_THAT(add_tokenizer_keys(*folder, *parsed, "llama", {"llama"},
                                   {.as_reference = as_reference}, keys, remarks),
                test::Succeeds());
  }

  [[nodiscard]] std::vector<float> scores() const {
    const auto value = keys.find("tokenizer.ggml.scores");
    std::vector<float> list;
    for (const Value& score : value->as_array()) list.push_back(*score.get<float>());
    return list;
  }
};

/// Letters, and tokens that pairs of earlier ones make. No token begins as it ends, so that two
/// places of one token never share a letter, and the order among them decides nothing.
Sketch random_sketch(test::Random& random) {
  Sketch sketch;
  for (char letter = 'a'; letter < 'i'; ++letter) sketch.texts.emplace_back(1, letter);
  const auto pick = [&]() -> const std::string& {
    return sketch.texts[random.below(sketch.texts.size())];
  };
  while (sketch.texts.size() < 120) {
    const std::string text = pick() + pick();
    bool is_wanted = text.size() < 9 && std::ranges::find(sketch.texts, text) == sketch.texts.end();
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (text.starts_with(text.substr(i))) is_wanted = false;
    }
    if (is_wanted) sketch.texts.push_back(text);
  }
  const auto is_token = [&](const std::string& text) {
    return std::ranges::find(sketch.texts, text) != sketch.texts.end();
  };
  for (const std::string& text : sketch.texts) {
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (is_token(text.substr(0, i)) && is_token(text.substr(i))) {
        sketch.merges.emplace_back(text.substr(0, i), text.substr(i));
      }
    }
  }
  return sketch;
}

TEST(LlamaScores, AreTheRanksOfMerges) {
  const Sketch sketch{{"a", "b", "ab", "c", "abc", "x"}, {{"ab", "c"}, {"a", "b"}}};
  const Imported imported(sketch);
  EXPECT_THAT(imported.scores(), ElementsAre(-2, -2, -2, -1, -2, 0, -2));
  EXPECT_THAT(imported.remarks,
              ElementsAre(AllOf(Field(&Error::code, Errc::engine_may_misread),
                                Field(&Error::subject, "tokenizer.ggml.scores"),
                                Field(&Error::detail, testing::Not(HasSubstr("pairs"))))));
}

TEST(LlamaScores, AreThoseOfTheReferenceWhereThatIsWanted) {
  const Imported imported({{"a", "b", "ab"}, {{"a", "b"}}}, true);
  EXPECT_THAT(imported.scores(), testing::Each(-1000.0F));
  EXPECT_THAT(imported.remarks, ElementsAre(Field(&Error::code, Errc::engine_may_misread)));
}

TEST(LlamaScores, TellOfPairsThatTheyCannotExpress) {
  // The file joins neither a and bc, nor abc at one rank.
  const Sketch sketch{{"a", "b", "c", "d", "ab", "bc", "abc", "cd"},
                      {{"a", "b"}, {"b", "c"}, {"ab", "c"}, {"c", "d"}}};
  const Imported imported(sketch);
  EXPECT_THAT(imported.remarks,
              ElementsAre(Field(&Error::detail, HasSubstr("no score expresses: 1"))));
  const Sketch torn{{"a", "b", "c", "ab", "bc", "abc"},
                    {{"a", "bc"}, {"a", "b"}, {"b", "c"}, {"ab", "c"}}};
  EXPECT_THAT(Imported(torn).remarks,
              ElementsAre(Field(&Error::detail, HasSubstr("no score expresses: 1"))));
}

TEST(LlamaScores, GiveTheIdsOfTheMerges) {
  test::Random random;
  for (int round = 0; round < 5; ++round) {
    const Sketch sketch = random_sketch(random);
    const Imported imported(sketch);
    const auto header = imported.keys.writer().serialise_header();
    ASSERT_THAT(header, test::Succeeds());
    const auto model = Model::open_memory(*header);
    ASSERT_THAT(model, test::Succeeds());
    const auto tokenizer = Tokenizer::make(*model);
    ASSERT_THAT(tokenizer, test::Succeeds());
    for (int i = 0; i < 200; ++i) {
      std::string text;
      for (std::size_t size = random.below(60); size != 0; --size) {
        text += static_cast<char>('a' + random.below(8));
      }
      const auto ids = tokenizer->encode(text, {.add_special = false});
      ASSERT_THAT(ids, test::Succeeds());
      ASSERT_EQ(*ids, sketch.merged(text)) << text;
    }
  }
}

}  // namespace
}  // namespace ingot::huggingface
