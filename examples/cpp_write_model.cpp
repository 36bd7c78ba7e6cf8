// SPDX-License-Identifier: MIT
// Writes a model with two tensors: one from memory, one produced row by row.
#include <cstdio>
#include <ingot/ingot.hpp>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  ingot::ModelWriter writer;
  writer.set("general.architecture", "example");
  writer.set("general.name", "Two tensors");
  writer.set("example.context_length", 128u);
  writer.set("tokenizer.ggml.tokens", std::vector<std::string>{"<unk>", "yes", "no"});

  const std::vector<float> scale = {1.0F, 0.5F, 0.25F, 0.125F};
  const auto row_by_row = [](const ingot::DataSink& sink) -> ingot::Result<void> {
    std::vector<float> row(256);
    for (int i = 0; i < 1024; ++i) {
      row.assign(row.size(), static_cast<float>(i));
      INGOT_TRY_VOID(sink(std::as_bytes(std::span(row))));
    }
    return {};
  };
  ingot::Result<void> done = writer.add_tensor("scale", {4}, scale);
  if (done) {
    done = writer.add_tensor("table", ingot::TensorType::f32, {256, 1024},
                             row_by_row);  // 1024 rows of 256
  }
  if (done) done = writer.write(argv[1], {}, /*replace=*/true);
  if (!done) std::fprintf(stderr, "%s: %s\n", argv[1], done.error().message().c_str());
  return done ? 0 : 4;
}
