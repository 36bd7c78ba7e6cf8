// SPDX-License-Identifier: MIT
// cpp_load_layer MODEL LAYER: loads all tensors of one layer as 32-bit floats, whatever their
// types.
#include <cmath>
#include <cstdio>
#include <ingot/ingot.hpp>
#include <map>
#include <string>
#include <vector>

using Layer = std::map<std::string, std::vector<float>>;

static ingot::Result<Layer> load_layer(const ingot::Model& model, const std::string& number) {
  const std::string prefix = "blk." + number + ".";
  Layer layer;
  for (const ingot::TensorInfo& tensor : model.tensors()) {
    if (!tensor.name.starts_with(prefix) || tensor.element_count == 0) continue;
    std::vector<float> floats(tensor.element_count);
    const std::uint64_t rows = tensor.element_count / tensor.row_elements();
    INGOT_TRY_VOID(model.dequantize_rows(tensor, 0, rows, floats));
    layer.emplace(tensor.name.substr(prefix.size()), std::move(floats));
  }
  return layer;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const ingot::Result<ingot::Model> model = ingot::Model::open(argv[1]);
  const ingot::Result<Layer> layer =
      model.and_then([&](const ingot::Model& opened) { return load_layer(opened, argv[2]); });
  if (!layer) {
    std::fprintf(stderr, "%s: %s\n", argv[1], layer.error().message().c_str());
    return 3;
  }
  for (const auto& [name, floats] : *layer) {
    double squares = 0.0;
    for (const double weight : floats) squares += weight * weight;
    std::printf("%-24s %8zu floats, root mean square %.4f\n", ingot::escape(name).c_str(),
                floats.size(), std::sqrt(squares / static_cast<double>(floats.size())));
  }
  return layer->empty() ? 1 : 0;
}
