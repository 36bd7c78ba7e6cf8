// SPDX-License-Identifier: MIT
// Write a GGUF model as a folder of Hugging Face's form (target ingot::import): the way back of
// import.hpp.
//
//   Result<std::unique_ptr<Conversion>> folder = plan_folder_export(model, "Qwen3-0.6B", {});
//   if (folder) (*folder)->run();
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ingot/convert.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/model.hpp"
#include "ingot/tensor_stream.hpp"
#include "ingot/types.hpp"

namespace ingot {

/// How a folder holds quantized weights.
enum class FolderPacking : std::uint8_t {
  none,  ///< Decoded.
  mlx,   ///< As MLX: affine, in groups of 32, 64 or 128, the largest that the blocks allow.
  gptq   ///< As GPTQ: tables of words for inputs; embeddings are decoded.
};

struct FolderExportOptions {
  /// The type of all tensors of floats: F32, F16 or BF16. Default: quantized tensors become F32,
  /// which holds all of their values, so that they can be quantized to the same bytes again; other
  /// tensors keep their types.
  std::optional<TensorType> type = {};
  std::uint64_t max_file_bytes = 5'000'000'000;  ///< The size at which a new safetensors file
                                                 ///< begins; 0: never.
  /// Refuse a model that would not come back: Errc::would_be_lost. Tensors keep their order, for
  /// which one may be cut into more files.
  bool is_strict = false;
  /// Weights keep their codes in this form. What it does not hold exactly is refused with
  /// Errc::would_be_lost, unless `is_lossy`.
  FolderPacking packing = FolderPacking::none;
  bool is_lossy = false;      ///< Weights of other types are rounded to the nearest that is held.
  bool replace = false;       ///< Files that exist are replaced; else the folder must be empty.
  unsigned thread_count = 0;  ///< 0: as many as the machine has cores.
};

template <class Visitor>
void describe_options(Visitor& visit, FolderExportOptions& options) {
  visit("type", options.type);
  visit("max_size", options.max_file_bytes);
  visit("strict", options.is_strict);
  visit("packing", options.packing);
  visit("lossy", options.is_lossy);
  visit("force", options.replace);
  visit("threads", options.thread_count);
}

/// The architectures that can be written as folders, as in `general.architecture`; sorted.
[[nodiscard]] INGOT_EXPORT Result<std::vector<std::string>> exportable_architectures();

/// Plans the files of a folder: config.json, generation_config.json, README.md, the tokenizer's
/// files, safetensors and their index; and plans the import of these files, to see whether it
/// restores the model. `Conversion::warnings` lists the losses: keys, tensors and their types; with
/// `is_strict` also the order of tensors. The list is empty for every model of a supported
/// architecture that plan_import has made from a folder, except for keys that only `ImportOptions`
/// gave.
///
/// @param model   borrowed until the conversion is destroyed; all of its shards.
/// @param folder  a path. The folder is made if needed. It must not hold other files that an import
///                would take for a part of the model.
/// @return  Errc::architecture_unsupported, with the known ones; Errc::tokenizer_unknown;
///          Errc::already_exists; Errc::would_be_lost, also for weights that `packing` rounds;
///          Errc::invalid_argument for other types.
///
/// Memory: the tokenizer's files as text and the headers of the safetensors, and twice
/// that during planning. Thread-safe.
[[nodiscard]] INGOT_EXPORT Result<std::unique_ptr<Conversion>> plan_folder_export(
    const Model& model, const std::string& folder, const FolderExportOptions& options = {});

/// Gives tensors the names that they have in a folder, for files of tensors alone
/// (ConvertOptions::rename). What the import did to them is undone: stacked experts are one tensor
/// each, and the rows of queries and keys have their original order. A remark says which tensors
/// are left out, because config.json stands for them, and which keep their names, because folders
/// have no such tensors.
///
/// @return  Errc::architecture_unsupported, also where numbers would have to change (gemma);
///          Errc::size_mismatch for rows that are not those of the heads.
[[nodiscard]] INGOT_EXPORT Result<std::vector<OutputTensor>> rename_as_in_folders(
    const Model& model, std::vector<OutputTensor> tensors, std::vector<Error>& remarks);

}  // namespace ingot
