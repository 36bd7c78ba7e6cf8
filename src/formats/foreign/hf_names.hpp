// SPDX-License-Identifier: MIT
// Translates the names of GGUF into those of Hugging Face models.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/model.hpp"
#include "ingot/summary.hpp"
#include "ingot/tensor_stream.hpp"

namespace ingot::formats {

/// "blk.12.attn_q.weight" in its parts.
struct TensorNameParts {
  std::optional<std::uint32_t> layer;
  std::string_view stem;    ///< "attn_q"
  std::string_view ending;  ///< ".weight", ".bias" or empty
};

[[nodiscard]] inline TensorNameParts split_tensor_name(std::string_view name) noexcept {
  TensorNameParts parts;
  for (const std::string_view ending : {".weight", ".bias"}) {
    if (name.ends_with(ending)) parts.ending = ending;
  }
  name.remove_suffix(parts.ending.size());
  const auto layer = parse_layer_name(name);
  if (layer) parts.layer = layer->layer;
  parts.stem = layer ? layer->rest : name;
  return parts;
}

/// Renames tensors, takes stacked experts apart, and undoes the reordering of the rows of queries
/// and keys where the conversion to GGUF made one. Tensors that a Hugging Face model does not have
/// (it makes them from its configuration) are left out, and those with unknown names are kept; a
/// remark says so. Errc::architecture_unsupported names an architecture without a table of names.
[[nodiscard]] Result<std::vector<OutputTensor>> rename_to_hf(const Model& model,
                                                             std::vector<OutputTensor> tensors,
                                                             std::vector<Error>& remarks);

}  // namespace ingot::formats
