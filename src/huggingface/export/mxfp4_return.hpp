// SPDX-License-Identifier: MIT
// Experts in MXFP4 as folders of gpt-oss have them: a tensor of codes and one of scales for several
// tensors of the model, whose rows take turns.
#pragma once

#include <optional>
#include <vector>

#include "huggingface/export/config_members.hpp"
#include "huggingface/export/packed_tensors.hpp"
#include "huggingface/import/tensors/tensor_name_map.hpp"

namespace ingot::huggingface {

/// The codes and the scales of the experts of which `tensor` is the first; an empty list for one
/// that another tensor brings along, nothing for a tensor that no rule makes of such a pair.
/// Errc::import_refused if the model lacks one of them, or if they differ in type or shape.
[[nodiscard]] Result<std::optional<std::vector<MadeTensor>>> return_mxfp4(
    const FolderFacts& facts, const TensorNameMap& names, const TensorInfo& tensor);

}  // namespace ingot::huggingface
