// SPDX-License-Identifier: MIT
// Files of tensors alone with the names of Hugging Face models.
#include <gmock/gmock.h>

#include "ingot/convert.hpp"
#include "ingot/folder_export.hpp"
#include "support/expect_error.hpp"
#include "support/model_sketch.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

class RenameAsInFolders : public testing::Test {
 protected:
  Result<std::vector<Error>> write(const std::string& name) const {
    INGOT_TRY(const Model model, Model::open(folder_.path("a.gguf"), {.access = FileAccess::read}));
    INGOT_TRY(const auto conversion,
              plan_conversion(model, FileFormat::safetensors, folder_.path(name),
                              {.rename = rename_as_in_folders, .replace = true}));
    INGOT_TRY_VOID(conversion->run());
    return conversion->remarks();
  }

  Result<Model> open(const std::string& name) const {
    INGOT_TRY(OpenedModel opened, open_any(folder_.path(name)));
    return std::move(opened.model);
  }

  static Bytes data(const Model& model, const TensorInfo& tensor) {
    Bytes bytes(tensor.size_bytes);
    EXPECT_THAT(model.read(tensor, 0, bytes), Succeeds());
    return bytes;
  }

  TemporaryFolder folder_;
};

/// The definition of what the conversion to GGUF does: rows of a head in two halves, interleaved.
std::vector<float> interleave(const std::vector<float>& rows, std::size_t width,
                              std::size_t heads) {
  std::vector<float> result(rows.size());
  const std::size_t head_rows = rows.size() / width / heads;
  for (std::size_t row = 0; row < rows.size() / width; ++row) {
    const std::size_t head = row / head_rows;
    const std::size_t half = row % head_rows / (head_rows / 2);
    const std::size_t place = row % (head_rows / 2);
    const std::size_t target = head * head_rows + 2 * place + half;
    for (std::size_t i = 0; i < width; ++i) result[target * width + i] = rows[row * width + i];
  }
  return result;
}

std::vector<float> counting(std::size_t count) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(i);
  return numbers;
}

Bytes bytes_of(const std::vector<float>& floats) {
  const auto bytes = std::as_bytes(std::span(floats));
  return {bytes.begin(), bytes.end()};
}

TEST_F(RenameAsInFolders, UndoesTheInterleavingOfLlama) {
  const std::vector<float> q = counting(32 * 32);
  const std::vector<float> k = counting(16 * 32);
  const std::vector<float> q_bias = counting(32);
  for (const bool is_llama : {true, false}) {
    ModelSketch sketch = sketch_llama({.architecture = is_llama ? "llama" : "qwen2"});
    const auto stored = [&](const std::vector<float>& rows, std::size_t width, std::size_t heads) {
      return bytes_of(is_llama ? interleave(rows, width, heads) : rows);
    };
    sketch.tensor("blk.1.attn_q.weight", TensorType::f32, {32, 32}, stored(q, 32, 4));
    sketch.tensor("blk.1.attn_k.weight", TensorType::f32, {32, 16}, stored(k, 32, 2));
    sketch.tensor("blk.1.attn_q.bias", TensorType::f32, {32}, stored(q_bias, 1, 4));
    sketch.tensor("rope_freqs.weight", TensorType::f32, {4});
    sketch.tensor("odd.one", TensorType::f32, {4});
    sketch.write(folder_.path("a.gguf"));
    const auto remarks = write("m.safetensors");
    ASSERT_THAT(remarks, Succeeds());
    EXPECT_EQ(remarks->size(), 2u);  // of tensors left out, or that keep their names
    const auto model = open("m.safetensors");
    ASSERT_THAT(model, Succeeds());
    const auto tensor = [&](const std::string& name) {
      const TensorInfo* found = model->find_tensor(name);
      return found != nullptr ? data(*model, *found) : Bytes();
    };
    EXPECT_EQ(tensor("model.layers.1.self_attn.q_proj.weight"), bytes_of(q));
    EXPECT_EQ(tensor("model.layers.1.self_attn.k_proj.weight"), bytes_of(k));
    EXPECT_EQ(tensor("model.layers.1.self_attn.q_proj.bias"), bytes_of(q_bias));
    EXPECT_EQ(tensor("model.embed_tokens.weight"), sketch.data("token_embd.weight"));
    EXPECT_EQ(tensor("model.norm.weight"), sketch.data("output_norm.weight"));
    EXPECT_EQ(tensor("model.layers.0.mlp.down_proj.weight"), sketch.data("blk.0.ffn_down.weight"));
    EXPECT_EQ(tensor("odd.one"), sketch.data("odd.one"));
    // Only the configuration of llama stands for these numbers.
    EXPECT_EQ(model->find_tensor("rope_freqs.weight") == nullptr, is_llama);
  }
}

ModelSketch with_heads(std::vector<std::uint32_t> of_layers) {
  return sketch_llama().set_by("llama.attention.head_count", [=](ModelWriter& writer) {
    writer.set_array("llama.attention.head_count", std::span<const std::uint32_t>(of_layers));
  });
}

TEST_F(RenameAsInFolders, CountsTheHeadsOfEachLayer) {
  const std::vector<float> q = counting(32 * 32);
  const auto add_to = [&](ModelSketch sketch) {
    const Bytes of_two = bytes_of(interleave(q, 32, 2));
    const Bytes of_four = bytes_of(interleave(q, 32, 4));
    sketch.tensor("blk.0.attn_q.weight", TensorType::f32, {32, 32}, of_two);
    sketch.tensor("blk.1.attn_q.weight", TensorType::f32, {32, 32}, of_four);
    sketch.write(folder_.path("a.gguf"));
  };
  add_to(with_heads({2, 4}));
  ASSERT_THAT(write("m.safetensors"), Succeeds());
  const auto model = open("m.safetensors");
  ASSERT_THAT(model, Succeeds());
  for (const char* name :
       {"model.layers.0.self_attn.q_proj.weight", "model.layers.1.self_attn.q_proj.weight"}) {
    ASSERT_NE(model->find_tensor(name), nullptr) << name;
    EXPECT_EQ(data(*model, *model->find_tensor(name)), bytes_of(q)) << name;
  }
  add_to(with_heads({2}));
  EXPECT_THAT(write("n.safetensors"), FailsWith(Errc::size_mismatch));
}

TEST_F(RenameAsInFolders, TakesExpertsApart) {
  ModelSketch sketch = sketch_llama();
  sketch.tensor("blk.0.ffn_up_exps.weight", TensorType::f32, {32, 8, 3}, bytes_of(counting(768)));
  sketch.write(folder_.path("a.gguf"));
  ASSERT_THAT(write("m.safetensors"), Succeeds());
  const auto model = open("m.safetensors");
  ASSERT_THAT(model, Succeeds());
  const TensorInfo* last =
      model->find_tensor("model.layers.0.block_sparse_moe.experts.2.w3.weight");
  ASSERT_NE(last, nullptr);
  std::vector<float> expected = counting(768);
  expected.erase(expected.begin(), expected.begin() + 512);
  EXPECT_EQ(data(*model, *last), bytes_of(expected));
}

TEST_F(RenameAsInFolders, KnowsArchitecturesOfWhichNoWholeFolderIsWritten) {
  for (const char* architecture : {"minicpm", "arcee"}) {
    ModelSketch sketch = sketch_llama({.architecture = architecture});
    const std::vector<float> q = counting(32 * 32);
    sketch.tensor("blk.1.attn_q.weight", TensorType::f32, {32, 32}, bytes_of(interleave(q, 32, 4)));
    sketch.write(folder_.path("a.gguf"));
    ASSERT_THAT(write("m.safetensors"), Succeeds());
    const auto model = open("m.safetensors");
    ASSERT_THAT(model, Succeeds());
    const TensorInfo* found = model->find_tensor("model.layers.1.self_attn.q_proj.weight");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(data(*model, *found), bytes_of(q));
  }
}

TEST_F(RenameAsInFolders, NamesNormsThatFollowAttention) {
  for (const char* architecture : {"exaone4", "seed_oss"}) {
    ModelSketch sketch = sketch_llama({.architecture = architecture});
    sketch.tensor("blk.1.post_attention_norm.weight", TensorType::f32, {32});
    sketch.write(folder_.path("a.gguf"));
    ASSERT_THAT(write("m.safetensors"), Succeeds());
    const auto model = open("m.safetensors");
    ASSERT_THAT(model, Succeeds());
    EXPECT_NE(model->find_tensor("model.layers.1.post_attention_layernorm.weight"), nullptr);
  }
}

TEST_F(RenameAsInFolders, NamesExpertsAsTheArchitectureDoes) {
  ModelSketch sketch = sketch_llama({.architecture = "qwen3moe"});
  sketch.tensor("blk.0.ffn_up_exps.weight", TensorType::f32, {32, 8, 3});
  sketch.tensor("blk.0.ffn_gate_inp.weight", TensorType::f32, {32, 3});
  sketch.write(folder_.path("a.gguf"));
  ASSERT_THAT(write("m.safetensors"), Succeeds());
  const auto model = open("m.safetensors");
  ASSERT_THAT(model, Succeeds());
  EXPECT_NE(model->find_tensor("model.layers.0.mlp.experts.2.up_proj.weight"), nullptr);
  EXPECT_NE(model->find_tensor("model.layers.0.mlp.gate.weight"), nullptr);
}

TEST_F(RenameAsInFolders, RefusesOtherArchitectures) {
  for (const char* architecture : {"gemma", "gpt2"}) {
    sketch_llama({.architecture = architecture}).write(folder_.path("a.gguf"));
    EXPECT_THAT(write("m.safetensors"),
                FailsWith(Errc::architecture_unsupported, Error::no_offset, architecture));
  }
  sketch_llama().remove("llama.attention.head_count").write(folder_.path("a.gguf"));
  EXPECT_THAT(write("m.safetensors"), FailsWith(Errc::size_mismatch));
}

}  // namespace
}  // namespace ingot::test
