// SPDX-License-Identifier: MIT
// Plans the import of the encoders of images and sound of a model folder, and of the projector that
// makes tokens of what they give: the file that engines load beside the text model.
#pragma once

#include <memory>

#include "huggingface/folder/model_folder.hpp"
#include "ingot/error.hpp"
#include "ingot/import.hpp"

namespace ingot::huggingface {

/// Errc::architecture_unsupported for a class without rules for its projector.
[[nodiscard]] Result<std::unique_ptr<Import>> plan_projector(const ModelFolder& folder,
                                                             const ImportOptions& options);

}  // namespace ingot::huggingface
