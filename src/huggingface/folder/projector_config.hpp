// SPDX-License-Identifier: MIT
// config.json of a model folder as the rules for its projector see it.
#pragma once

#include "huggingface/folder/config.hpp"
#include "huggingface/folder/model_folder.hpp"
#include "ingot/error.hpp"

namespace ingot::huggingface {

/// The members of config.json and, in their objects, `vision` and `audio` of the encoders that it
/// describes, `text` of the model that they are for, and `preprocessor` of the files that say how
/// images become numbers. The layers are those of the encoder.
[[nodiscard]] Result<Config> read_projector_config(const ModelFolder& folder);

}  // namespace ingot::huggingface
