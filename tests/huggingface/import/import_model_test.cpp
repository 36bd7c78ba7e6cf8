// SPDX-License-Identifier: MIT
// An import that is read as a model, quantized and cut: the bytes of its file, without the file.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ingot/import.hpp"
#include "ingot/model.hpp"
#include "ingot/quantize_model.hpp"
#include "ingot/recipe.hpp"
#include "ingot/split.hpp"
#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"
#include "support/tiny_folder.hpp"

namespace ingot::test {
namespace {

/// Tensors of several pieces, one of them reordered; rows are whole blocks.
class ImportModel : public testing::Test {
 protected:
  void SetUp() override {
    auto planned = folder_.plan();
    ASSERT_THAT(planned, Succeeds());
    import_ = *std::move(planned);
    ASSERT_THAT(import_->write(whole_), Succeeds());
    auto made = import_->open_model();
    ASSERT_THAT(made, Succeeds());
    made_.emplace(*std::move(made));
    auto written = Model::open(whole_);
    ASSERT_THAT(written, Succeeds());
    written_.emplace(*std::move(written));
  }

  TinyFolder folder_{"LlamaForCausalLM",
                     R"("head_dim": 4, "num_attention_heads": 2)",
                     {{"layers.0.self_attn.q_proj.weight", {1500, 256}},
                      {"layers.0.mlp.up_proj.weight", {1301, 256}}}};
  TemporaryFolder files_;
  std::string whole_ = files_.path("whole.gguf");
  std::unique_ptr<Import> import_;
  std::optional<Model> made_;
  std::optional<Model> written_;
};

TEST_F(ImportModel, HasTheBytesOfTheFileAtAnyPlace) {
  ASSERT_EQ(made_->tensors().size(), written_->tensors().size());
  constexpr std::uint64_t step = 100'003;
  for (const TensorInfo& tensor : written_->tensors()) {
    SCOPED_TRACE(tensor.name);
    const TensorInfo* same = made_->find_tensor(tensor.name);
    ASSERT_NE(same, nullptr);
    for (std::uint64_t at = 0; at < tensor.size_bytes; at += step) {
      std::vector<std::byte> expected(std::min(step, tensor.size_bytes - at));
      std::vector<std::byte> bytes(expected.size());
      ASSERT_THAT(written_->read(tensor, at, expected), Succeeds());
      ASSERT_THAT(made_->read(*same, at, bytes), Succeeds());
      EXPECT_TRUE(bytes == expected) << at;
    }
  }
}

TEST_F(ImportModel, IsQuantizedAsItsFileIs) {
  std::vector<std::string> paths;
  for (const Model* model : {&*made_, &*written_}) {
    QuantizeModelOptions options;
    options.recipe = find_recipe("BF16");
    const auto plan = plan_quantization(*model, options);
    ASSERT_THAT(plan, Succeeds());
    paths.push_back(files_.path("quantized" + std::to_string(paths.size()) + ".gguf"));
    ASSERT_THAT(quantize_model(*model, *plan, options, {.path = paths.back()}, false), Succeeds());
  }
  EXPECT_TRUE(read_whole(paths[0]) == read_whole(paths[1]));
}

TEST_F(ImportModel, IsCutAsItsFileIs) {
  const auto plan = plan_split(*made_, {.max_tensors = 2});
  ASSERT_THAT(plan, Succeeds());
  ASSERT_EQ(plan->shards.size(), 2u);
  ASSERT_THAT(import_->write_shards(*plan, files_.path("cut")), Succeeds());
  ASSERT_THAT(write_shards(*written_, *plan, files_.path("expected")), Succeeds());
  ASSERT_THAT(import_->write_shards(*plan, files_.path("one"), 1), Succeeds());
  for (const char* shard : {"-00001-of-00002.gguf", "-00002-of-00002.gguf"}) {
    const auto expected = read_whole(files_.path(std::string("expected") + shard));
    EXPECT_TRUE(read_whole(files_.path(std::string("cut") + shard)) == expected) << shard;
  }
  EXPECT_TRUE(read_whole(files_.path("one-00002-of-00002.gguf")) ==
              read_whole(files_.path("expected-00002-of-00002.gguf")));
  EXPECT_FALSE(std::filesystem::exists(files_.path("one-00001-of-00002.gguf")));
  const auto again = import_->write_shards(*plan, files_.path("cut"));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Errc::already_exists);
}

}  // namespace
}  // namespace ingot::test
