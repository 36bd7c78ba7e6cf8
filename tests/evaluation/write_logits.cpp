// SPDX-License-Identifier: MIT
// write_logits FOLDER [TOKENS MODEL...]: the tiny models, or others by name, a text for them of two
// chunks of so many tokens, and the logits that the library computes, MODEL.logits; of an embedding
// model the vectors of both chunks.
// reference.py and engine.py compare these with their own.
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "evaluation/tiny_networks.hpp"
#include "ingot/embeddings.hpp"

namespace {

int fail(const std::string& what, const ingot::Error& error) {
  std::fprintf(stderr, "%s: %s\n", what.c_str(), error.message().c_str());
  return 1;
}

/// The logits of a model, or the vectors of one that predicts nothing.
ingot::Result<std::vector<float>> run(const ingot::Model& model, const ingot::TextChunks& text) {
  if (ingot::uses_of(model).predicts) return ingot::compute_logits(model, text);
  INGOT_TRY(ingot::Embeddings made, ingot::compute_embeddings(model, text));
  return std::move(made.values);
}

int write(const std::string& path, const std::string& logits_path, const ingot::TextChunks& text) {
  const auto opened = ingot::Model::open(path);
  if (!opened) return fail(path, opened.error());
  const ingot::Result<std::vector<float>> numbers = run(*opened, text);
  if (!numbers) return fail(path, numbers.error());
  std::ofstream(logits_path, std::ios::binary)
      .write(reinterpret_cast<const char*>(numbers->data()),
             static_cast<std::streamsize>(numbers->size() * sizeof(float)));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string folder = std::string(argv[1]) + "/";
  const auto text = argc > 2 ? ingot::test::tiny_text(std::strtoul(argv[2], nullptr, 10))
                             : ingot::test::tiny_text();
  std::ofstream ids(folder + "ids");
  for (const ingot::TokenId id : text.ids) ids << id << '\n';
  int failed = 0;
  for (int i = 3; i < argc; ++i) {
    const std::string path = argv[i];
    failed |= write(path, path.substr(0, path.rfind('.')) + ".logits", text);
  }
  if (argc > 2) return failed;
  for (const auto& [name, model] : ingot::test::tiny_models()) {
    failed |= write(model.sketch.write(folder + name + ".gguf"), folder + name + ".logits", text);
  }
  return failed;
}
