// SPDX-License-Identifier: MIT
// Weights in FP8, or in integers of 8 bits, with a scale for each block.
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/changed_numbers.hpp"
#include "huggingface/import/tensors/quantized/nvfp4_weights.hpp"
#include "huggingface/import/tensors/source_tensors.hpp"
#include "huggingface/rules/name_pattern.hpp"
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
    std::vector<std::byte> raw(count * find_type(weights_->type())->block_bytes);
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

/// Rows and columns that share a scale.
struct ScaleBlock {
  std::uint64_t rows, columns;
};

/// The block that scales without a stated one are for: the whole matrix or each of its rows.
std::optional<ScaleBlock> find_block(const SourceTensor& tensor, const SourceTensor& scales) {
  const std::uint64_t rows = tensor.shape[0];
  std::uint64_t count = 1;
  for (const std::uint64_t size : scales.shape) {
    if (!multiply_within(rows, count, size)) return std::nullopt;
  }
  if (count == 1) return ScaleBlock{rows, tensor.shape[1]};
  const bool is_column = !scales.shape.empty() && scales.shape[0] == rows && count == rows;
  return is_column ? std::optional(ScaleBlock{1, tensor.shape[1]}) : std::nullopt;
}

Result<void> scale(SourceTensor& tensor, const SourceTensor& scales,
                   std::optional<ScaleBlock> block) {
  const bool is_byte = tensor.dtype != nullptr &&
                       (tensor.dtype->byte_values != nullptr || tensor.dtype->name == "I8");
  if (!is_byte || tensor.shape.size() != 2 || tensor.shape[0] == 0 || tensor.shape[1] == 0) {
    return refuse(tensor.name, "a matrix of FP8 or I8 is expected");
  }
  const bool is_stated = block.has_value();
  if (!block) block = find_block(tensor, scales);
  const bool has_numbers = scales.dtype != nullptr && scales.dtype->type;
  if (!block || !has_numbers) {
    return refuse(scales.name,
                  "one scale, or one for each row of " + tensor.name + ", is expected");
  }
  const std::vector<std::uint64_t> expected = {(tensor.shape[0] - 1) / block->rows + 1,
                                               (tensor.shape[1] - 1) / block->columns + 1};
  if (is_stated && scales.shape != expected) {
    return refuse(scales.name, "one scale for each block of " + tensor.name + " is expected");
  }
  if (scales.size_bytes > max_scale_bytes) return refuse(scales.name, "there are too many scales");
  INGOT_TRY(const auto source, scales.numbers());
  std::vector<std::byte> scratch;
  std::vector<float> values(static_cast<std::size_t>(expected[0] * expected[1]));
  INGOT_TRY_VOID(read_floats(*source, 0, scratch, values));
  INGOT_TRY(auto weights, tensor.numbers());
  if (tensor.dtype->name == "I8") tensor.code_bits = 8;
  tensor.computed = std::make_shared<ScaledNumbers>(std::move(weights), std::move(values),
                                                    tensor.shape[1], block->rows, block->columns);
  return {};
}

/// The two numbers of a member; nothing if it is not there.
Result<std::optional<ScaleBlock>> read_block(const nlohmann::json& settings, const char* name) {
  const auto size = settings.find(name);
  if (size == settings.end() || size->is_null()) return std::optional<ScaleBlock>();
  if (!size->is_array() || size->size() != 2) {
    return refuse("config.json", std::string(name) + " must be two numbers");
  }
  INGOT_TRY(const std::uint64_t rows, count_of((*size)[0], name));
  INGOT_TRY(const std::uint64_t columns, count_of((*size)[1], name));
  if (rows == 0 || columns == 0) {
    return refuse("config.json", std::string(name) + " must be above 0");
  }
  return std::optional(ScaleBlock{rows, columns});
}

/// Multiplies each NAME by NAME + `ending`.
Result<void> scale_all(std::string_view ending, std::optional<ScaleBlock> block,
                       std::vector<SourceTensor>& tensors) {
  std::map<std::string, std::size_t> positions;
  for (std::size_t i = 0; i < tensors.size(); ++i) positions[tensors[i].name] = i;
  for (const SourceTensor& scales : tensors) {
    if (!scales.name.ends_with(ending)) continue;
    const auto weight = positions.find(scales.name.substr(0, scales.name.size() - ending.size()));
    if (weight == positions.end()) return refuse(scales.name, "there is no tensor to scale");
    INGOT_TRY_VOID(scale(tensors[weight->second], scales, block));
  }
  std::erase_if(tensors, [&](const SourceTensor& tensor) { return tensor.name.ends_with(ending); });
  return {};
}

/// Multiplies each NAME.weight in FP8 by NAME.scale. Codes of FP4 keep their scales.
Result<void> scale_weights(std::optional<ScaleBlock> block, std::vector<SourceTensor>& tensors) {
  constexpr std::string_view ending = ".scale";
  std::map<std::string, std::size_t> positions;
  for (std::size_t i = 0; i < tensors.size(); ++i) positions[tensors[i].name] = i;
  std::set<std::string> used;
  for (const SourceTensor& scales : tensors) {
    if (!scales.name.ends_with(ending)) continue;
    const std::string base = scales.name.substr(0, scales.name.size() - ending.size());
    const auto weight = positions.find(base + ".weight");
    if (weight == positions.end() || !tensors[weight->second].is_fp8()) continue;
    INGOT_TRY_VOID(scale(tensors[weight->second], scales, block));
    used.insert(scales.name);
  }
  std::erase_if(tensors, [&](const SourceTensor& one) { return used.contains(one.name); });
  return {};
}

/// The settings of the weights, which are the same for all groups of layers.
Result<nlohmann::json> weight_settings(const nlohmann::json& settings) {
  const auto groups = settings.find("config_groups");
  nlohmann::json found;
  if (groups == settings.end() || !groups->is_object()) return found;
  for (const nlohmann::json& group : *groups) {
    const auto weights = group.is_object() ? group.find("weights") : group.end();
    if (weights == group.end() || !weights->is_object()) continue;
    if (!found.is_null() && found != *weights) {
      return refuse("config.json", "config_groups must have the same weights");
    }
    found = *weights;
  }
  return found;
}

}  // namespace

Result<void> undo_fp8(const nlohmann::json& settings, std::vector<SourceTensor>& tensors) {
  INGOT_TRY(const std::optional<ScaleBlock> block, read_block(settings, "weight_block_size"));
  std::erase_if(tensors, [](const SourceTensor& tensor) {
    return ends_with_one(tensor.name, {".activation_scale", "_activation_scale"});
  });
  INGOT_TRY_VOID(scale_weights(block, tensors));
  return scale_all("_scale_inv", block, tensors);
}

Result<void> undo_mistral_fp8(const nlohmann::json&, std::vector<SourceTensor>& tensors) {
  std::erase_if(tensors, [](const auto& tensor) { return tensor.name.ends_with(".qscale_act"); });
  for (SourceTensor& tensor : tensors) {
    constexpr std::string_view ending = ".qscale_weight";
    if (!tensor.name.ends_with(ending)) continue;
    tensor.name.replace(tensor.name.size() - ending.size(), ending.size(), ".weight_scale");
  }
  return scale_all("_scale", {}, tensors);
}

Result<void> undo_modelopt(const nlohmann::json&, std::vector<SourceTensor>& tensors) {
  INGOT_TRY_VOID(take_nvfp4_scales(tensors));
  std::erase_if(tensors, [](const SourceTensor& tensor) {
    return ends_with_one(tensor.name, {".input_scale", ".k_scale", ".v_scale"});
  });
  return scale_all("_scale", {}, tensors);
}

Result<void> undo_compressed(const nlohmann::json& settings, std::vector<SourceTensor>& tensors) {
  const auto format = settings.find("format");
  const std::string name =
      format != settings.end() && format->is_string() ? format->get<std::string>() : "";
  INGOT_TRY(const nlohmann::json weights, weight_settings(settings));
  if (!weights.is_object()) return refuse("config.json", "config_groups has no weights");
  if (name == "nvfp4-pack-quantized") return take_nvfp4_scales(tensors);
  if (name == "pack-quantized") {
    const auto bits = weights.find("num_bits");
    if (bits == weights.end()) return refuse("config.json", "num_bits is missing");
    INGOT_TRY(const std::uint64_t count, count_of(*bits, "num_bits"));
    return undo_packed(count, tensors);
  }
  if (name != "float-quantized" && name != "int-quantized" && name != "naive-quantized") {
    return refuse("config.json",
                  "the format `" + name +
                      "` of compressed-tensors is not supported; float-quantized, int-quantized, "
                      "naive-quantized, pack-quantized and nvfp4-pack-quantized are");
  }
  INGOT_TRY(const std::optional<ScaleBlock> block, read_block(weights, "block_structure"));
  std::erase_if(tensors, [](const SourceTensor& tensor) {
    return ends_with_one(tensor.name, {".input_scale", ".k_scale", ".v_scale"});
  });
  return scale_all("_scale", block, tensors);
}

}  // namespace ingot::huggingface
