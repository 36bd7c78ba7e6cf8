// SPDX-License-Identifier: MIT
// Weights in FP8 with a scale for each block.
#include <cstring>
#include <map>
#include <utility>

#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/source_tensors.hpp"
#include "ingot/quantize.hpp"

namespace ingot::huggingface {
namespace {

constexpr std::uint64_t max_scale_bytes = std::uint64_t{64} << 20;

/// weight[row][column] * scale[row / rows of a block][column / columns of a block], in F32.
class ScaledNumbers final : public NumberSource {
 public:
  ScaledNumbers(std::shared_ptr<const NumberSource> weights, std::vector<float> scales,
                std::uint64_t columns, std::uint64_t block_rows, std::uint64_t block_columns)
      : weights_(std::move(weights)),
        scales_(std::move(scales)),
        columns_(columns),
        block_rows_(block_rows),
        block_columns_(block_columns),
        scale_columns_((columns + block_columns - 1) / block_columns) {}

  [[nodiscard]] TensorType type() const noexcept override { return TensorType::f32; }

  [[nodiscard]] Result<void> read(std::uint64_t first,
                                  std::span<std::byte> destination) const override {
    const std::size_t count = destination.size() / sizeof(float);
    std::vector<std::byte> raw(count * 2);  // bytes of FP8 are read as BF16
    std::vector<float> numbers(count);
    INGOT_TRY_VOID(weights_->read(first, raw));
    INGOT_TRY_VOID(dequantize(weights_->type(), raw, numbers));
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t row = (first + i) / columns_;
      const std::uint64_t column = (first + i) % columns_;
      numbers[i] *= scales_[static_cast<std::size_t>(row / block_rows_ * scale_columns_ +
                                                     column / block_columns_)];
    }
    std::memcpy(destination.data(), numbers.data(), destination.size());
    return {};
  }

 private:
  std::shared_ptr<const NumberSource> weights_;
  std::vector<float> scales_;
  std::uint64_t columns_;
  std::uint64_t block_rows_;
  std::uint64_t block_columns_;
  std::uint64_t scale_columns_;
};

Result<void> scale(SourceTensor& tensor, const SourceTensor& scales, std::uint64_t block_rows,
                   std::uint64_t block_columns) {
  const bool is_fp8 = tensor.dtype != nullptr && tensor.dtype->byte_values != nullptr;
  if (!is_fp8 || tensor.shape.size() != 2 || tensor.shape[0] == 0 || tensor.shape[1] == 0) {
    return refuse(tensor.name, "a matrix of FP8 is expected");
  }
  const std::vector<std::uint64_t> expected = {(tensor.shape[0] - 1) / block_rows + 1,
                                               (tensor.shape[1] - 1) / block_columns + 1};
  if (scales.shape != expected || !scales.dtype->type || scales.dtype->byte_values != nullptr) {
    return refuse(scales.name, "one scale for each block of " + tensor.name + " is expected");
  }
  INGOT_TRY(const std::vector<std::byte> bytes, scales.read_all(max_scale_bytes));
  std::vector<float> values(static_cast<std::size_t>(expected[0] * expected[1]));
  INGOT_TRY_VOID(dequantize(*scales.dtype->type, bytes, values));
  INGOT_TRY(auto weights, tensor.numbers());
  tensor.computed = std::make_shared<ScaledNumbers>(std::move(weights), std::move(values),
                                                    tensor.shape[1], block_rows, block_columns);
  return {};
}

}  // namespace

Result<void> undo_fp8(const nlohmann::json& settings, std::vector<SourceTensor>& tensors) {
  const auto size = settings.find("weight_block_size");
  if (size == settings.end() || !size->is_array() || size->size() != 2) {
    return refuse("config.json", "FP8 needs weight_block_size, two numbers");
  }
  INGOT_TRY(const std::uint64_t block_rows, count_of((*size)[0], "weight_block_size"));
  INGOT_TRY(const std::uint64_t block_columns, count_of((*size)[1], "weight_block_size"));
  if (block_rows == 0 || block_columns == 0) {
    return refuse("config.json", "weight_block_size must be above 0");
  }
  constexpr std::string_view ending = "_scale_inv";
  std::map<std::string, std::size_t> positions;
  for (std::size_t i = 0; i < tensors.size(); ++i) positions[tensors[i].name] = i;
  for (const SourceTensor& scales : tensors) {
    if (!scales.name.ends_with(ending)) continue;
    const auto weight = positions.find(scales.name.substr(0, scales.name.size() - ending.size()));
    if (weight == positions.end()) return refuse(scales.name, "there is no tensor to scale");
    INGOT_TRY_VOID(scale(tensors[weight->second], scales, block_rows, block_columns));
  }
  std::erase_if(tensors, [&](const SourceTensor& tensor) { return tensor.name.ends_with(ending); });
  return {};
}

}  // namespace ingot::huggingface
