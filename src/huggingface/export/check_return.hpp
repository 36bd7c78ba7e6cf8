// SPDX-License-Identifier: MIT
// Whether a folder that is planned leads back to the model: the import plans it, too.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "formats/safetensors/safetensors_shards.hpp"
#include "ingot/error.hpp"
#include "ingot/model.hpp"

namespace ingot::huggingface {

/// The files of a folder before they are written.
struct FolderSketch {
  std::string name;                          ///< The name of the folder.
  std::map<std::string, std::string> texts;  ///< The files by name, which may contain a folder.
  std::span<const formats::SafetensorsShard> shards;
  bool is_packed = false;   ///< Weights keep their codes; an exact import gives them their types.
  bool keeps_order = true;  ///< Whether tensors in another order count as a loss.
};

struct ReturnCheck {
  std::vector<Error> lost;  ///< The differences that a new import would make.
  bool loses_pre = false;   ///< The pre-tokenizer among it.
};

/// Compares keys, and names, shapes, types and order of tensors; no data is read.
[[nodiscard]] ReturnCheck check_return(const Model& model, const FolderSketch& sketch);

}  // namespace ingot::huggingface
