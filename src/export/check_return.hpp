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

namespace ingot::hf {

/// The files of a folder before they are written.
struct FolderSketch {
  std::string name;                          ///< Of the folder.
  std::map<std::string, std::string> texts;  ///< By name; may be of a folder below.
  std::span<const convert::SafetensorsShard> shards;
};

struct ReturnCheck {
  std::vector<Error> lost;  ///< What a new import would make otherwise.
  bool loses_pre = false;   ///< The pre-tokenizer among it.
};

/// Compares keys, and names, shapes, types and order of tensors; no data is read.
[[nodiscard]] ReturnCheck check_return(const Model& model, const FolderSketch& sketch);

}  // namespace ingot::hf
