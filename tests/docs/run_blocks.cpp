// SPDX-License-Identifier: MIT
// run_blocks FOLDER: runs the C++ of the documentation in an empty folder, and then looks at what
// it has written.
#include <filesystem>
#include <fstream>

#include "docs/blocks.hpp"
#include "support/model_sketch.hpp"

namespace ingot::test {
namespace {

namespace fs = std::filesystem;

/// The files that the pages name: model.gguf, other.gguf, edited.gguf and model.safetensors.
void write_inputs() {
  ModelSketch sketch;
  sketch.set("general.architecture", "llama");
  sketch.set("general.name", "a model");
  sketch.set("tokenizer.ggml.model", "llama");
  sketch.set("tokenizer.chat_template", "{% for m in messages %}{{ m.content }}{% endfor %}");
  sketch.set_by("tokenizer.ggml.tokens", [](ModelWriter& writer) {
    const std::vector<std::string> tokens = {"<unk>", "<s>", "</s>", "a", "b"};
    writer.set_array("tokenizer.ggml.tokens", std::span<const std::string>(tokens));
  });
  sketch.set_by("tokenizer.ggml.scores", [](ModelWriter& writer) {
    const std::vector<float> scores = {0, 0, 0, -1, -2};
    writer.set_array("tokenizer.ggml.scores", std::span<const float>(scores));
  });
  sketch.set_by("tokenizer.ggml.token_type", [](ModelWriter& writer) {
    const std::vector<std::int32_t> types = {2, 3, 3, 1, 1};
    writer.set_array("tokenizer.ggml.token_type", std::span<const std::int32_t>(types));
  });
  sketch.tensor("blk.0.ffn_down.weight", TensorType::f32, {256, 32});
  sketch.tensor("output.weight", TensorType::f32, {256, 8});
  sketch.write("model.gguf");
  sketch.write("other.gguf");
  sketch.write("edited.gguf");
  const auto model = Model::open("model.gguf");
  require(model, "model.gguf");
  const auto conversion = plan_conversion(*model, FileFormat::safetensors, "model.safetensors");
  require(conversion, "model.safetensors");
  require((*conversion)->run(), "model.safetensors");
}

/// No model may have lost a tensor on its way; two examples make one of a tensor.
bool has_all_tensors(const fs::path& path) {
  const auto model = Model::open(path.string());
  require(model, path.c_str());
  const bool is_made = path.filename() == "first.gguf" || path.filename() == "tiny.gguf";
  if (model->tensors().size() >= (is_made ? 1 : 2)) return true;
  std::fprintf(stderr, "%s has %zu tensors\n", path.c_str(), model->tensors().size());
  return false;
}

int run(const char* folder) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  fs::current_path(folder);
  write_inputs();
  run_blocks();
  std::size_t written = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(".")) {
    if (entry.path().extension() != ".gguf") continue;
    ++written;
    if (!has_all_tensors(entry.path())) return 1;
  }
  // More than the inputs.
  return written > 3 ? 0 : 1;
}

}  // namespace
}  // namespace ingot::test

int main(int argc, char** argv) { return argc == 2 ? ingot::test::run(argv[1]) : 2; }
