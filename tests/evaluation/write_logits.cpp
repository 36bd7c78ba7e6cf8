// SPDX-License-Identifier: MIT
// write_logits FOLDER: the tiny models, a text for them, and the logits that the library computes.
// reference.py compares these with its own.
#include <cstdio>
#include <fstream>

#include "evaluation/tiny_networks.hpp"

namespace {

int fail(const std::string& what, const ingot::Error& error) {
  std::fprintf(stderr, "%s: %s\n", what.c_str(), error.message().c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = std::string(argv[1]) + "/";
  const ingot::TextChunks text = ingot::test::tiny_text();
  std::ofstream ids(folder + "ids");
  for (const ingot::TokenId id : text.ids) ids << id << '\n';
  for (const auto& [name, model] : ingot::test::tiny_models()) {
    const auto opened = ingot::Model::open(model.sketch.write(folder + name + ".gguf"));
    if (!opened) return fail(name, opened.error());
    const auto logits = ingot::compute_logits(*opened, text);
    if (!logits) return fail(name, logits.error());
    std::ofstream(folder + name + ".logits", std::ios::binary)
        .write(reinterpret_cast<const char*>(logits->data()),
               static_cast<std::streamsize>(logits->size() * sizeof(float)));
  }
  return 0;
}
