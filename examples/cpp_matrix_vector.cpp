// SPDX-License-Identifier: MIT
// cpp_matrix_vector MODEL TENSOR: multiplies a quantized matrix with a vector, straight from the
// mapped file: each row is decoded into a buffer that stays in the cache, by all cores.
#include <cmath>
#include <cstdio>
#include <ingot/ingot.hpp>
#include <ingot/parallel.hpp>
#include <vector>

/// result = matrix * vector; the matrix has one row for each number of the result.
static ingot::Result<void> multiply(const ingot::Model& model, const ingot::TensorInfo& matrix,
                                    std::span<const float> vector, std::span<float> result) {
  const std::size_t columns = matrix.row_elements();
  const ingot::TensorTypeInfo& type = *ingot::find_type(matrix.type);
  const std::size_t row_bytes = type.bytes_of(columns);
  const std::span<const std::byte> blocks = model.data(matrix);
  const ingot::Endian byte_order = model.files()[matrix.shard].byte_order;
  const auto multiply_rows = [&](std::uint64_t first, std::uint64_t count) -> ingot::Result<void> {
    std::vector<float> row(columns);
    for (std::uint64_t i = first; i < first + count; ++i) {
      INGOT_TRY_VOID(ingot::dequantize(matrix.type, blocks.subspan(i * row_bytes, row_bytes), row,
                                       {.byte_order = byte_order}));
      double sum = 0.0;
      for (std::size_t k = 0; k < columns; ++k) {
        sum += static_cast<double>(row[k]) * static_cast<double>(vector[k]);
      }
      result[i] = static_cast<float>(sum);
    }
    return {};
  };
  return ingot::spread(result.size(), 64, /*all cores*/ 0, multiply_rows);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const ingot::Result<ingot::Model> model = ingot::Model::open(argv[1]);
  const ingot::TensorInfo* matrix = model ? model->find_tensor(argv[2]) : nullptr;
  if (matrix == nullptr || matrix->shape.size() != 2 || model->data(*matrix).empty()) return 3;

  std::vector<float> vector(matrix->shape[0]);
  for (std::size_t k = 0; k < vector.size(); ++k) vector[k] = std::sin(static_cast<float>(k));
  std::vector<float> result(matrix->shape[1]);
  if (!multiply(*model, *matrix, vector, result)) return 3;
  std::printf("%zu numbers, the first is %g\n", result.size(), static_cast<double>(result[0]));
  return 0;
}
