// SPDX-License-Identifier: MIT
// The type of a tensor in the result.
#pragma once

#include <vector>

#include "huggingface/import/tensors/tensor_plan.hpp"
#include "huggingface/import/tensors/tensor_view.hpp"
#include "ingot/error.hpp"

namespace ingot::huggingface {

/// Sets the type of a tensor that has its name and shape; in an exact import also its error, for
/// which all numbers of quantized weights are read. Memory is bounded by a piece per thread.
///
/// @param is_stored  the numbers are those of tensors of the folder, in their type.
[[nodiscard]] Result<void> choose_type(const TensorTask& task, const TensorView& view,
                                       bool is_stored, ImportedTensor& tensor,
                                       std::vector<Error>& remarks);

}  // namespace ingot::huggingface
