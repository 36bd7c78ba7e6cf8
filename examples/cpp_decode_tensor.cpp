// SPDX-License-Identifier: MIT
// Decodes every row of a tensor and encodes it again with half of the bits.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ingot/ingot.hpp>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const ingot::Result<ingot::Model> model = ingot::Model::open(argv[1]);
  const ingot::TensorInfo* tensor = model ? model->find_tensor(argv[2]) : nullptr;
  if (tensor == nullptr || tensor->element_count == 0) return 3;

  const std::size_t columns = tensor->row_elements();
  const std::uint64_t rows = tensor->element_count / columns;
  std::vector<float> row(columns);
  std::vector<std::byte> blocks(columns / 32 * 18);  // Q4_0: 18 bytes for 32 weights
  std::vector<float> coarse(columns);
  double worst = 0.0;
  for (std::uint64_t i = 0; i < rows; ++i) {
    if (!model->dequantize_rows(*tensor, i, 1, row)) return 3;
    if (!ingot::quantize(ingot::TensorType::q4_0, row, columns, blocks)) return 3;
    if (!ingot::dequantize(ingot::TensorType::q4_0, blocks, coarse)) return 3;
    for (std::size_t k = 0; k < columns; ++k) {
      worst = std::max(worst, static_cast<double>(std::abs(row[k] - coarse[k])));
    }
  }
  std::printf("largest error as Q4_0: %g\n", worst);
  return 0;
}
