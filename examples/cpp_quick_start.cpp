// SPDX-License-Identifier: MIT
// Opens a model and prints its name, its context length and its largest tensor.
#include <algorithm>
#include <cstdio>
#include <ingot/ingot.hpp>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const ingot::Result<ingot::Model> model = ingot::Model::open(argv[1]);
  if (!model) {
    std::fprintf(stderr, "%s: %s\n", argv[1], model.error().message().c_str());
    return 3;
  }
  const ingot::Summary summary = ingot::summarize(*model);
  std::printf("%s\n", ingot::escape(summary.name.value_or("a model without a name")).c_str());
  if (summary.context_length) {
    std::printf("context: %llu tokens\n", static_cast<unsigned long long>(*summary.context_length));
  }

  const auto tensors = model->tensors();
  const auto largest =
      std::max_element(tensors.begin(), tensors.end(),
                       [](const auto& a, const auto& b) { return a.size_bytes < b.size_bytes; });
  if (largest == tensors.end()) return 0;
  const std::span<const std::byte> bytes = model->data(*largest);  // in the mapped file, not copied
  std::printf("largest: %s, %zu bytes\n", ingot::escape(largest->name).c_str(), bytes.size());
  return 0;
}
