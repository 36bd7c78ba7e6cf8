// SPDX-License-Identifier: MIT
// examples/generate.cpp against the forward pass of the library: they share no code.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "evaluation/tiny_networks.hpp"
#include "support/shared_files.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

constexpr std::size_t new_tokens = 12;

/// The output of the example: the ids of the prompt, then those that it chose.
std::vector<TokenId> run_example(const std::string& arguments) {
  const std::string command = std::string(INGOT_EXAMPLE_GENERATE) + " " + arguments;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"), &::pclose);
  std::vector<TokenId> ids;
  for (int id = 0; pipe != nullptr && std::fscanf(pipe.get(), "%d", &id) == 1;) ids.push_back(id);
  return ids;
}

/// Every token that the example chose is the most likely one by `compute_logits`, or as likely as
/// that but for rounding.
void expect_most_likely(const std::string& path, const std::string& text) {
  const auto ids =
      run_example(path + " '" + text + "' --ids --tokens " + std::to_string(new_tokens));
  const Result<Model> model = Model::open(path);
  ASSERT_TRUE(model.has_value());
  ASSERT_GT(ids.size(), text.size() + 1) << "it chose no tokens";
  const auto logits = compute_logits(*model, {ids, ids.size()});
  ASSERT_TRUE(logits.has_value()) << logits.error().message();
  const std::size_t vocabulary = logits->size() / ids.size();
  std::size_t chosen = 0;
  for (std::size_t t = text.size(); t + 1 < ids.size(); ++t, ++chosen) {
    const auto row = std::span(*logits).subspan(t * vocabulary, vocabulary);
    const auto [least, most] = std::minmax_element(row.begin(), row.end());
    EXPECT_GE(row[static_cast<std::size_t>(ids[t + 1])], *most - 1e-4F * (*most - *least))
        << path << ", token " << t + 1;
  }
  EXPECT_GT(chosen, 2u);
}

/// One token for each letter, and one that no text has and that ends nothing.
void add_vocabulary(ModelSketch& sketch) {
  std::vector<std::string> tokens = {"<s>"};
  for (char letter = 'A'; tokens.size() < tiny_vocabulary; ++letter) tokens.emplace_back(1, letter);
  std::vector<std::int32_t> kinds(tokens.size(), 1);
  kinds[0] = 3;
  sketch.set("tokenizer.ggml.model", "gpt2").set("tokenizer.ggml.pre", "gpt-2");
  sketch.set("tokenizer.ggml.bos_token_id", std::uint32_t{0});
  sketch.set_by("tokenizer.ggml.tokens", [tokens](ModelWriter& writer) {
    writer.set_array("tokenizer.ggml.tokens", std::span<const std::string>(tokens));
  });
  sketch.set_by("tokenizer.ggml.token_type", [kinds](ModelWriter& writer) {
    writer.set_array("tokenizer.ggml.token_type", std::span<const std::int32_t>(kinds));
  });
  sketch.set_by("tokenizer.ggml.merges", [](ModelWriter& writer) {
    writer.set_array("tokenizer.ggml.merges", std::span<const std::string>());
  });
}

TEST(GenerateExampleTest, ChoosesTheMostLikelyTokens) {
  const TemporaryFolder folder;
  for (const char* name : {"llama", "llama_plain", "qwen2", "qwen3"}) {
    TinyModel model = tiny_models().at(name);
    add_vocabulary(model.sketch);
    expect_most_likely(model.sketch.write(folder.path(std::string(name) + ".gguf")), "ABCabcXYZ");
  }
}

class TrainedGenerateExampleTest : public SharedFilesTest {};

TEST_F(TrainedGenerateExampleTest, ChoosesTheMostLikelyTokens) {
  const auto path = shared_folder() / "golden/eval/tiny-bytes-f32.gguf";
  require_files(path);
  if (!IsSkipped()) expect_most_likely(path, "The function returns a ");
}

}  // namespace
}  // namespace ingot::test
