// SPDX-License-Identifier: MIT
// Folders as MLX arranges them: codes in words beside scales and biases, experts in one tensor.
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/checked.hpp"
#include "base/strings.hpp"
#include "huggingface/folder/config.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/changed_numbers.hpp"
#include "huggingface/import/tensors/quantized/packed_numbers.hpp"
#include "huggingface/import/tensors/source_tensors.hpp"
#include "huggingface/rules/name_pattern.hpp"

namespace ingot::huggingface {
namespace {

/// The numbers of FP4 (E2M1), as BF16: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives.
constexpr std::array<std::uint16_t, 16> fp4_values = {
    0x0000, 0x3F00, 0x3F80, 0x3FC0, 0x4000, 0x4040, 0x4080, 0x40C0,
    0x8000, 0xBF00, 0xBF80, 0xBFC0, 0xC000, 0xC040, 0xC080, 0xC0C0};

/// A way to quantize, with what it has where config.json does not say (mlx/ops.cpp).
struct MlxMode {
  std::string_view name;
  std::uint64_t group;
  std::uint64_t bits;
  std::string_view scales;  ///< What the bytes of scales are; empty: scales and biases are numbers.
};
constexpr std::array mlx_modes = {
    MlxMode{"affine", 64, 4, ""},
    MlxMode{"mxfp4", 32, 4, "F8_E8M0"},
    MlxMode{"nvfp4", 16, 4, "F8_E4M3"},
    MlxMode{"mxfp8", 32, 8, "F8_E8M0"},
};

/// Layers may differ: then they have an object of their own, by their name.
Result<MlxMode> mlx_mode(const nlohmann::json& settings, const std::string& base) {
  const auto own = settings.find(base);
  const nlohmann::json& layer = own != settings.end() && own->is_object() ? *own : settings;
  const auto stated = layer.find("mode");
  const auto known = std::ranges::find_if(mlx_modes, [&](const MlxMode& mode) {
    return stated == layer.end() ? mode.name == "affine" : *stated == mode.name;
  });
  if (known == mlx_modes.end()) {
    return refuse("config.json", base + ": the modes affine, mxfp4, nvfp4 and mxfp8 are supported");
  }
  MlxMode mode = *known;
  for (const auto& [name, member] : {std::pair("bits", &mode.bits), {"group_size", &mode.group}}) {
    const auto value = layer.find(name);
    if (value == layer.end()) continue;
    INGOT_TRY(*member, count_of(*value, base + ": " + name));
  }
  const bool has_bits = mode.scales.empty() ? mode.bits >= 2 && mode.bits <= 8 && mode.bits != 7
                                            : mode.bits == known->bits;
  if (!has_bits || mode.group == 0) {
    return refuse("config.json", base +
                                     ": weights of MLX have 2, 3, 4, 5, 6 or 8 bits, FP4 4 and "
                                     "FP8 8, and groups");
  }
  return mode;
}

/// The weight, or the stack of weights, that codes of MLX stand for, if its parts fit one another.
Result<SourceTensor> unpack_mlx(const MlxMode& mode, const SourceTensor& codes,
                                const SourceTensor* scales, const SourceTensor* biases) {
  const bool is_affine = mode.scales.empty();
  if (scales == nullptr || (is_affine && biases == nullptr)) {
    return refuse(codes.name, is_affine ? "scales and biases are expected beside it"
                                        : "scales are expected beside it");
  }
  SourceTensor weight{.name = codes.name, .shape = codes.shape, .code_bits = mode.bits};
  std::uint64_t row_bits = bits_of_packed_word;
  if (codes.shape.size() < 2 || codes.shape.back() == 0 ||
      !multiply_within(max_packed_row_bits, row_bits, codes.shape.back()) ||
      row_bits % mode.bits != 0 || row_bits / mode.bits % mode.group != 0) {
    return refuse(codes.name, "rows of whole groups of " + std::to_string(mode.group) +
                                  " codes of " + std::to_string(mode.bits) +
                                  " bits are expected; its shape is " + shape_text(codes.shape));
  }
  const std::uint64_t columns = row_bits / mode.bits;
  weight.shape.back() = columns;
  std::vector<std::uint64_t> grouped = codes.shape;
  grouped.back() = columns / mode.group;
  for (const SourceTensor* part : {scales, is_affine ? biases : scales}) {
    const bool has_numbers =
        part->dtype != nullptr && part->file != nullptr &&
        (is_affine ? part->dtype->type && is_float(*part->dtype->type) : part->dtype->bits == 8);
    if (has_numbers && part->shape == grouped) continue;
    return refuse(part->name, std::string(is_affine ? "floats" : "bytes") + " of the shape " +
                                  shape_text(grouped) + " are expected, one for each group of " +
                                  std::to_string(mode.group) + "; it is " + described(*part));
  }
  PackedLayout layout{.bits = mode.bits, .columns = columns, .group = mode.group};
  PackedNumbers::Parts parts{.codes = codes, .scales = *scales};
  if (is_affine) {
    parts.biases = biases;
  } else {
    parts.scales.dtype = formats::find_dtype(mode.scales);
    layout.values = fp4_values;
    if (mode.bits == 8) layout.values = {formats::find_dtype("F8_E4M3")->byte_values, 256};
  }
  weight.computed = std::make_shared<PackedNumbers>(parts, layout);
  return weight;
}

/// Names that MLX gives to modules of its own, and those by which the rules know them. Source: the
/// `sanitize` of mlx_lm/models. The first that fits is taken.
constexpr std::array<std::pair<std::string_view, std::string_view>, 10> mlx_names = {{
    {".block_sparse_moe.switch_mlp.gate_proj.", ".block_sparse_moe.experts.w1."},
    {".block_sparse_moe.switch_mlp.down_proj.", ".block_sparse_moe.experts.w2."},
    {".block_sparse_moe.switch_mlp.up_proj.", ".block_sparse_moe.experts.w3."},
    {".mixer.switch_mlp.fc1.", ".mlp.experts.up_proj."},
    {".mixer.switch_mlp.fc2.", ".mlp.experts.down_proj."},
    {".experts.switch_glu.", ".mlp.experts."},
    {".switch_mlp.", ".experts."},
    {".mlp.gate.gate_proj.", ".mlp.gate."},
    {".self_attn.embed_q.", ".self_attn.k_b_proj."},
    {".self_attn.unembed_out.", ".self_attn.v_b_proj."},
}};

/// Whether the channels of a convolution come last, as MLX has them.
bool is_turned_convolution(const SourceTensor& tensor) {
  return ends_with_one(tensor.name, {"conv1d.weight", "conv.conv.weight"}) &&
         tensor.shape.size() == 3 && tensor.shape[2] == 1 && tensor.shape[1] != 1;
}

}  // namespace

Result<void> undo_mlx(const nlohmann::json& settings, std::vector<SourceTensor>& tensors) {
  std::map<std::string, const SourceTensor*, std::less<>> by_name;
  for (const SourceTensor& tensor : tensors) by_name[tensor.name] = &tensor;
  std::vector<SourceTensor> unpacked;
  for (const SourceTensor& tensor : tensors) {
    const std::string base = tensor.name.substr(0, tensor.name.rfind('.'));
    const auto part = [&](const char* suffix) {
      const auto found = by_name.find(base + suffix);
      return found == by_name.end() ? nullptr : found->second;
    };
    const SourceTensor* const codes = part(".weight");
    if (codes == nullptr || codes->dtype == nullptr || codes->dtype->name != "U32") {
      unpacked.push_back(tensor);
      continue;
    }
    if (&tensor != codes) {
      if (!ends_with_one(tensor.name, {".scales", ".biases"})) unpacked.push_back(tensor);
      continue;
    }
    INGOT_TRY(const MlxMode mode, mlx_mode(settings, base));
    INGOT_TRY(SourceTensor weight, unpack_mlx(mode, tensor, part(".scales"), part(".biases")));
    unpacked.push_back(std::move(weight));
  }
  tensors = std::move(unpacked);
  return {};
}

Result<void> undo_mlx_arrangement(const Config& config, std::vector<SourceTensor>& tensors) {
  const bool is_turned = std::ranges::any_of(tensors, is_turned_convolution);
  const nlohmann::json* const kind = config.find("model_type");
  const std::string model = kind != nullptr && kind->is_string() ? kind->get<std::string>() : "";
  if (is_turned && model == "falcon_h1") {
    return refuse("config.json",
                  "MLX has multiplied the weights of falcon_h1 by its multipliers; "
                  "import the folder that it was made of");
  }
  // MLX adds 1 to these norms of Qwen, as the import does.
  const bool adds_one =
      is_turned && (model.starts_with("qwen3_next") || model.starts_with("qwen3_5"));
  for (SourceTensor& tensor : tensors) {
    for (const auto& [from, to] : mlx_names) {
      if (tensor.name.find(from) == tensor.name.npos) continue;
      if (from.starts_with(".mixer.")) replace_all(tensor.name, "backbone.", "model.");
      replace_all(tensor.name, from, to);
      break;
    }
    if (is_turned_convolution(tensor)) std::swap(tensor.shape[1], tensor.shape[2]);
    const bool is_norm =
        ends_with_one(tensor.name, {".input_layernorm.weight", ".post_attention_layernorm.weight",
                                    "model.norm.weight", ".q_norm.weight", ".k_norm.weight"});
    if (!adds_one || !is_norm) continue;
    INGOT_TRY(auto numbers, tensor.numbers());
    const auto subtract_one = [](std::uint64_t, std::span<float> values) -> Result<void> {
      for (float& value : values) value -= 1;
      return {};
    };
    tensor.computed = change_numbers(std::move(numbers), subtract_one, TensorType::f32);
  }
  return {};
}

}  // namespace ingot::huggingface
