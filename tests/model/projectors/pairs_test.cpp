// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "ingot/projectors.hpp"
#include "support/expect_error.hpp"
#include "support/gguf_builder.hpp"

namespace ingot::test {
namespace {

PairFacts model_of(std::uint64_t width, std::vector<std::string> identities,
                   std::string basename = {}) {
  PairFacts facts;
  facts.vision_width = facts.audio_width = width;
  facts.identities = std::move(identities);
  facts.basename = std::move(basename);
  return facts;
}
PairFacts projector_of(std::uint64_t width, std::vector<std::string> identities,
                       std::string basename = {}) {
  PairFacts facts = model_of(width, std::move(identities), std::move(basename));
  facts.is_projector = true;
  facts.audio_width.reset();
  return facts;
}

TEST(Pairs, AreStrongByWhatTheFilesSay) {
  const auto strength = [](const PairFacts& model, const PairFacts& projector) {
    return name_of(match_pair(model, projector));
  };
  const PairFacts model = model_of(64, {"tinyvl"}, "tiny");
  EXPECT_EQ(strength(model, projector_of(64, {"other", "tinyvl"})), "same");
  EXPECT_EQ(strength(model, projector_of(64, {"other"}, "tiny")), "related");
  EXPECT_EQ(strength(model, projector_of(64, {"other"})), "unrelated");
  EXPECT_EQ(strength(model, projector_of(64, {})), "unnamed");
  EXPECT_EQ(strength(model, projector_of(65, {"tinyvl"})), "impossible");
  EXPECT_EQ(strength(projector_of(64, {}), projector_of(64, {})), "impossible");
  PairFacts fed = projector_of(64, {"tinyvl"});
  fed.fed_layers = 3;
  EXPECT_EQ(strength(model, fed), "impossible");
  PairFacts marked = projector_of(64, {});
  marked.tokens = {"<image>"};
  EXPECT_EQ(strength(model, marked), "unrelated");
}

TEST(Pairs, AreFoundWithTheBestProjector) {
  // A model of another name whose basename is the same takes the only projector of that family.
  const std::array files = {model_of(64, {"tinyvl"}, "tiny"), model_of(64, {"tuned"}, "tiny"),
                            projector_of(64, {"tinyvl"}, "tiny"), projector_of(64, {"far"}, "tiny"),
                            model_of(32, {})};
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (const ProjectorPair& pair : find_pairs(files))
    found.emplace_back(pair.model, pair.projector);
  EXPECT_THAT(found,
              testing::ElementsAre(testing::Pair(0, 2), testing::Pair(1, 2), testing::Pair(1, 3)));
}

TEST(Pairs, WithoutNamesNeedToBeTheOnlyOnes) {
  std::vector<PairFacts> files = {model_of(64, {}), projector_of(64, {"tinyvl"})};
  EXPECT_EQ(find_pairs(files).size(), 1u);
  files.push_back(model_of(64, {}));
  EXPECT_THAT(find_pairs(files), testing::IsEmpty());
}

TEST(Pairs, ReadNamesWithoutTheirLooks) {
  GgufBuilder file;
  file.pair("general.architecture", "llama").pair("general.name", "Tiny-VL 7B");
  file.pair("general.base_model.count", 1u).pair("llama.embedding_length", 64);
  file.pair("general.base_model.0.repo_url", "https://hub.example/org/Tiny_VL-Base/");
  file.array_pair<std::string_view>("tokenizer.ggml.tokens", {"a", "<|vision_start|>", "<|x|>"});
  const Bytes bytes = file.bytes();
  const auto model = Model::open_memory(bytes);
  ASSERT_THAT(model, Succeeds());
  const PairFacts facts = pair_facts(*model);
  EXPECT_THAT(facts.identities, testing::ElementsAre("tinyvl7b", "tinyvlbase"));
  EXPECT_THAT(facts.tokens, testing::ElementsAre("<|vision_start|>"));
  EXPECT_EQ(facts.vision_width, 64u);
}

}  // namespace
}  // namespace ingot::test
