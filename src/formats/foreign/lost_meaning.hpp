// SPDX-License-Identifier: MIT
// Facts that a conversion cannot keep, or must not keep.
#pragma once

#include <functional>
#include <optional>

#include "ingot/error.hpp"
#include "ingot/model.hpp"
#include "ingot/model_writer.hpp"

namespace ingot::formats {

/// Returns Errc::not_loadable with the facts that engines need and a model of another format lacks:
/// its architecture, its tokenizer, the names of its tensors. Nothing for models that have these
/// facts, and for GGUF files, which keep all of theirs.
[[nodiscard]] std::optional<Error> find_missing_meaning(const Model& model);

/// `general.file_type`, if the model has that key and its weights get another type: the file type
/// of most weights in the result, or none where there is no such file type.
void set_file_type(const Model& model, ModelWriter& keys,
                   const std::function<TensorType(const TensorInfo&)>& type_in_result);

}  // namespace ingot::formats
