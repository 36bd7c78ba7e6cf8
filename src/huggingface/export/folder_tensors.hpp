// SPDX-License-Identifier: MIT
// The tensors of a folder: names, order and transforms of the import, undone.
#pragma once

#include <optional>
#include <vector>

#include "huggingface/export/config_members.hpp"
#include "huggingface/export/packed_tensors.hpp"
#include "huggingface/import/tensors/rule_operations.hpp"
#include "ingot/error.hpp"
#include "ingot/tensor_stream.hpp"

namespace ingot::huggingface {

struct FolderTensor {
  OutputTensor output;
  ReturnedNumber number = {};  ///< What becomes of every number, in F32; unset: nothing.
  std::optional<Packing> packing = {};
  MakeTensor make = {};  ///< Makes the bytes; unset: they are those of the output's source.
};

/// Files in the order of their names. The import takes the tensors file by file, by name within
/// each: a new file begins where names must not go on ascending.
using FolderFiles = std::vector<std::vector<FolderTensor>>;

struct FolderTensors {
  FolderFiles files;
  std::vector<Error> lost;    ///< Tensors without a name in folders.
  std::uint64_t group = 128;  ///< The largest group of all packed weights.
};

/// @param config  of the folder.
/// @param options  `type` is that of all tensors of floats but packed ones; default: quantized ones
///                 become F32, which holds all of their values, and the others stay what they are.
/// @return  Errc::import_refused for a transform without a way back; Errc::size_mismatch where rows
///          are not those of the heads; Errc::would_be_lost for weights that are not packed
///          exactly.
[[nodiscard]] Result<FolderTensors> plan_folder_tensors(const FolderFacts& facts,
                                                        const FolderConfig& config,
                                                        const FolderExportOptions& options);

}  // namespace ingot::huggingface
