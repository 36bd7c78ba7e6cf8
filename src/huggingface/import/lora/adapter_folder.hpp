// SPDX-License-Identifier: MIT
// A folder with a LoRA adapter as PEFT writes it: adapter_config.json and
// adapter_model.safetensors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "huggingface/folder/model_folder.hpp"
#include "huggingface/import/tensors/source_tensors.hpp"
#include "ingot/error.hpp"
#include "ingot/types.hpp"

namespace ingot::huggingface {

/// Whether a folder holds an adapter, and not the weights of a model beside it.
[[nodiscard]] bool is_adapter_folder(const ModelFolder& folder);

/// The content of adapter_config.json.
struct AdapterConfig {
  double alpha = 0;  ///< The product counts alpha / rank times.
  std::string base;  ///< The name of the base model or its path; may be empty.
  /// The product counts alpha / sqrt(rank) times.
  bool is_rank_stabilized = false;
  /// The weights of the base are stored with rows and columns swapped, as GPT-2's are.
  bool is_transposed = false;
  /// The tokens from which on the adapter is active; empty if it always is.
  std::vector<std::uint32_t> invocation_tokens;
};

/// Reads adapter_config.json. Errc::adapter_invalid if a member is missing or of another type, or
/// if the adapter is of a kind that GGUF cannot hold.
[[nodiscard]] Result<AdapterConfig> read_adapter_config(const ModelFolder& folder);

/// The tensors of an adapter under the names that they have in the base.
struct AdapterTensors {
  /// Norms, which come whole, then the products of pairs of halves (LoraProduct), each in the order
  /// in which their first halves are sorted.
  std::vector<SourceTensor> tensors;
  TensorType type = TensorType::f32;  ///< The type of the first half: F32, F16 or BF16.
  std::uint64_t rank = 0;             ///< The rank of all pairs; 0 if they differ.
};

/// Lists the tensors of an adapter. Errc::adapter_invalid for other kinds of tensors, halves
/// without the other half, and shapes that do not fit a product.
[[nodiscard]] Result<AdapterTensors> list_adapter_tensors(const ModelFolder& folder,
                                                          const AdapterConfig& config);

}  // namespace ingot::huggingface
