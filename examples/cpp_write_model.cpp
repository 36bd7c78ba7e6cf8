// SPDX-License-Identifier: MIT
// Writes a model with two tensors: one from memory, one produced row by row.
#include <array>
#include <cstdio>
#include <ingot/ingot.hpp>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  ingot::ModelWriter writer;
  writer.set("general.architecture", "example");
  writer.set("general.name", "Two tensors");
  writer.set("example.context_length", 128u);
  const std::array<std::string_view, 3> tokens = {"<unk>", "yes", "no"};
  writer.set_array("tokenizer.ggml.tokens", std::span<const std::string_view>(tokens));

  const std::array<float, 4> scale = {1.0F, 0.5F, 0.25F, 0.125F};
  const auto row_by_row = [](const ingot::DataSink& sink) -> ingot::Result<void> {
    std::vector<float> row(256);
    for (int i = 0; i < 1024; ++i) {
      row.assign(row.size(), static_cast<float>(i));
      INGOT_TRY_VOID(sink(std::as_bytes(std::span(row))));
    }
    return {};
  };
  const auto write = [&]() -> ingot::Result<void> {
    using enum ingot::TensorType;
    INGOT_TRY_VOID(writer.add_tensor("scale", f32, {4}, std::as_bytes(std::span(scale))));
    INGOT_TRY_VOID(writer.add_tensor("table", f32, {256, 1024}, row_by_row));  // 1024 rows of 256
    return writer.write(argv[1], {.version = 3}, /*replace=*/true);
  };
  if (const ingot::Result<void> written = write(); !written) {
    std::fprintf(stderr, "%s: %s\n", argv[1], written.error().message().c_str());
    return 4;
  }
  return 0;
}
