// SPDX-License-Identifier: MIT
// From the names of GGUF to those of Hugging Face models.
#pragma once

#include <vector>

#include "ingot/error.hpp"
#include "ingot/model.hpp"
#include "ingot/tensor_stream.hpp"

namespace ingot::convert {

/// Renames tensors, takes stacked experts apart, and undoes the reordering of the rows of queries
/// and keys where the conversion to GGUF made one. Tensors that a Hugging Face model does not have
/// (it makes them from its configuration) are left out, and those with unknown names are kept; a
/// remark says so. Errc::architecture_unsupported names an architecture without a table of names.
[[nodiscard]] Result<std::vector<OutputTensor>> rename_to_hf(const Model& model,
                                                             std::vector<OutputTensor> tensors,
                                                             std::vector<Error>& remarks);

}  // namespace ingot::convert
