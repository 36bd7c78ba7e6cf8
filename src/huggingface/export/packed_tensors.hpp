// SPDX-License-Identifier: MIT
// Weights of a folder whose blocks are packed as MLX or GPTQ has them, without rounding.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "huggingface/export/folder_output.hpp"
#include "ingot/error.hpp"
#include "ingot/folder_export.hpp"
#include "ingot/tensor_stream.hpp"

namespace ingot::huggingface {

/// What a packed weight is made of: its blocks in `type`.
struct Packing {
  FolderPacking form = FolderPacking::none;
  TensorType type = TensorType::q4_0;
  std::uint64_t bits = 4;
};

/// The packing of a tensor of blocks by name, type and shape in the model; nothing if the form
/// leaves such a tensor as it is, as GPTQ does with embeddings. `is_exact` is false if the type has
/// no row, and the packing is that of the type it is rounded to.
[[nodiscard]] std::optional<Packing> find_packing(FolderPacking form, const TensorInfo& tensor,
                                                  bool& is_exact);

/// What only the blocks tell.
struct BlockFacts {
  std::uint64_t group = 128;    ///< The largest group, 32, 64 or 128, whose blocks share a scale.
  bool has_whole_zeros = true;  ///< Each minimum is the scale times a whole number from -16 to -1.
};

/// Reads the blocks of a tensor as far as they may tell of larger groups or whole zeros.
[[nodiscard]] Result<BlockFacts> look_at_blocks(const Model& model, const OutputTensor& tensor,
                                                unsigned thread_count);

/// A tensor of a folder that is made of blocks.
struct MadeTensor {
  OutputTensor output;
  MakeTensor make;
};

/// The tensors that a weight becomes: NAME.weight, .scales and .biases of MLX; NAME.qweight,
/// .qzeros, .scales and .g_idx of GPTQ.
[[nodiscard]] std::vector<MadeTensor> pack(const OutputTensor& weight, const Packing& packing,
                                           std::uint64_t group);

/// The name of a stack of experts in MLX, by that of its first expert in other folders.
[[nodiscard]] std::string mlx_stack_name(std::string name);

/// A weight of a packed folder, by its name without its ending.
struct PackedWeight {
  std::string name;
  std::optional<Packing> packing;  ///< None for a matrix that is left as it is.
};

/// Adds what loaders want to know to config.json.
void add_packing(FolderPacking form, std::uint64_t group, const std::vector<PackedWeight>& weights,
                 nlohmann::ordered_json& config);

}  // namespace ingot::huggingface
