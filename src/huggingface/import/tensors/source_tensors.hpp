// SPDX-License-Identifier: MIT
// The tensors of a model folder, in the order in which they are imported.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "formats/safetensors/safetensors_dtypes.hpp"
#include "formats/safetensors/safetensors_index.hpp"
#include "huggingface/folder/config.hpp"
#include "huggingface/folder/model_folder.hpp"
#include "huggingface/import/tensors/number_source.hpp"
#include "ingot/error.hpp"
#include "ingot/source.hpp"

namespace ingot::huggingface {

struct SourceTensor;

/// The scales of a weight in NVFP4.
struct Nvfp4Scales {
  std::shared_ptr<const SourceTensor> groups;  ///< One for 16 columns.
  float weight = 1;                            ///< Of the whole weight.
  float input = 1;                             ///< Of what it is multiplied with.
};

struct SourceTensor {
  std::string name;
  std::vector<std::uint64_t> shape;  ///< Row-major: the outermost dimension first.
  const formats::SafetensorsDtype* dtype = nullptr;
  std::shared_ptr<const Source> file = {};
  std::uint64_t file_offset = 0;
  std::uint64_t size_bytes = 0;
  /// The numbers of a tensor that is computed from others; then it has no file.
  std::shared_ptr<const NumberSource> computed = {};
  std::shared_ptr<const Nvfp4Scales> nvfp4 = {};  ///< Those of a weight that stays in NVFP4.
  std::uint64_t code_bits = 0;  ///< Bits of the integers that it is computed from; 0: of none.

  /// Whether the weight is in FP8, with scales or without.
  [[nodiscard]] bool is_fp8() const noexcept {
    return dtype != nullptr && (dtype->name == "F8_E4M3" || dtype->name == "F8_E5M2");
  }
  /// The numbers. Errc::element_type_unsupported if the type has none that GGUF could hold.
  [[nodiscard]] Result<std::shared_ptr<const NumberSource>> numbers() const;
  /// Reads all stored bytes of a tensor of at most `max_bytes`.
  [[nodiscard]] Result<std::vector<std::byte>> read_all(std::uint64_t max_bytes) const;
};

/// Element type and shape in a message: "F16 [4096, 32]".
[[nodiscard]] std::string described(const SourceTensor& tensor);

/// The files that the index names, or else all that are weights by their names.
[[nodiscard]] std::vector<std::string> list_weight_files(const ModelFolder& folder,
                                                         const formats::WeightMap& index);

/// The tensors of the files that the index names, or else of all files of weights: by file, then by
/// name. Index and files must agree; no name may be there twice.
[[nodiscard]] Result<std::vector<SourceTensor>> list_tensors(const ModelFolder& folder);

/// The tensors of some files of the folder, in the same order. No name may be there twice.
[[nodiscard]] Result<std::vector<SourceTensor>> list_tensors_of(
    const ModelFolder& folder, const std::vector<std::string>& files);

/// Whether there is no `quantization_config`, or its method is supported.
[[nodiscard]] bool has_known_quantization(const Config& config);

/// Puts the tensors that quantized ones stand for in their place, by `quantization_config`.
/// Errc::import_refused for methods that are not supported.
[[nodiscard]] Result<void> undo_quantization(const Config& config,
                                             std::vector<SourceTensor>& tensors);

/// GPTQ: NAME.qweight, .qzeros, .scales and .g_idx become NAME.weight, behind all others.
[[nodiscard]] Result<void> undo_gptq(const nlohmann::json& settings,
                                     std::vector<SourceTensor>& tensors);

/// AWQ: NAME.qweight, .qzeros and .scales become NAME.weight, behind all others.
[[nodiscard]] Result<void> undo_awq(const nlohmann::json& settings,
                                    std::vector<SourceTensor>& tensors);

/// bitsandbytes: NAME.weight and what lies beside it become NAME.weight, in place: codes of 4 bits
/// with NAME.weight.absmax and .quant_state, integers with NAME.SCB.
[[nodiscard]] Result<void> undo_bitsandbytes(const nlohmann::json& settings,
                                             std::vector<SourceTensor>& tensors);

/// compressed-tensors: NAME.weight is multiplied by its scales, NAME.weight_scale, one for all, for
/// each row or for each block; packed integers: undo_packed.
[[nodiscard]] Result<void> undo_compressed(const nlohmann::json& settings,
                                           std::vector<SourceTensor>& tensors);

/// NAME.weight_packed, .weight_scale, .weight_shape and perhaps .weight_zero_point become
/// NAME.weight, behind all others.
[[nodiscard]] Result<void> undo_packed(std::uint64_t bits, std::vector<SourceTensor>& tensors);

/// MLX: NAME.weight of packed codes, .scales and perhaps .biases become NAME.weight, in place.
[[nodiscard]] Result<void> undo_mlx(const nlohmann::json& settings,
                                    std::vector<SourceTensor>& tensors);

/// Gives tensors that MLX has renamed, turned or added 1 to the form of other folders. Stacks of
/// experts stay stacks.
[[nodiscard]] Result<void> undo_mlx_arrangement(const Config& config,
                                                std::vector<SourceTensor>& tensors);

/// ModelOpt: weights in NVFP4 get their scales, those in FP8 are multiplied by theirs,
/// NAME.weight_scale.
[[nodiscard]] Result<void> undo_modelopt(const nlohmann::json& settings,
                                         std::vector<SourceTensor>& tensors);

/// FP8: NAME is multiplied by its scales, NAME_scale_inv, one for all or one a block of rows and
/// columns; or NAME.weight by NAME.scale.
[[nodiscard]] Result<void> undo_fp8(const nlohmann::json& settings,
                                    std::vector<SourceTensor>& tensors);
/// FP8 of Mistral's own form: NAME.weight is multiplied by NAME.qscale_weight.
[[nodiscard]] Result<void> undo_mistral_fp8(const nlohmann::json& settings,
                                            std::vector<SourceTensor>& tensors);

}  // namespace ingot::huggingface
