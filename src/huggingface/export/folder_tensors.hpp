// SPDX-License-Identifier: MIT
// The tensors of a folder: names, order and transforms of the import, undone.
#pragma once

#include <optional>
#include <vector>

#include "huggingface/export/config_members.hpp"
#include "ingot/error.hpp"
#include "ingot/tensor_stream.hpp"

namespace ingot::huggingface {

struct FolderTensor {
  OutputTensor output;
  double added = 0;  ///< A constant added to every number, in F32.
};

/// Files in the order of their names. The import takes the tensors file by file, by name within
/// each: a new file begins where names must not go on ascending.
using FolderFiles = std::vector<std::vector<FolderTensor>>;

struct FolderTensors {
  FolderFiles files;
  std::vector<Error> lost;  ///< Tensors without a name in folders.
};

/// @param config  of the folder.
/// @param type    of all tensors of floats; default: quantized ones become F32, which holds all of
///                their values, and the others stay what they are.
/// @return  Errc::import_refused for a transform without a way back; Errc::size_mismatch where rows
///          are not those of the heads.
[[nodiscard]] Result<FolderTensors> plan_folder_tensors(const FolderFacts& facts,
                                                        const FolderConfig& config,
                                                        std::optional<TensorType> type);

}  // namespace ingot::huggingface
