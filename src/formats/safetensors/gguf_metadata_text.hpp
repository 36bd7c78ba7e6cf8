// SPDX-License-Identifier: MIT
// The keys of a model as text, for formats whose metadata is text.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/metadata.hpp"
#include "ingot/model.hpp"
#include "ingot/model_writer.hpp"

namespace ingot::formats {

/// The entry that holds all keys with their types: the header of a GGUF file without tensors, in
/// base64. The entries beside it are for people and for other programs.
inline constexpr std::string_view exact_metadata_key = "ingot.gguf_metadata";

/// All keys except those of the container: numbers, flags and texts as text, short arrays as JSON,
/// and the exact values together in one entry of the name above. `general.file_type` follows the
/// types in the result.
[[nodiscard]] Result<std::vector<std::pair<std::string, std::string>>> metadata_as_text(
    const Model& model, const std::function<TensorType(const TensorInfo&)>& type_in_result);

/// Adds the keys of the entry `exact_metadata_key`. Errc::safetensors_header if it is malformed.
[[nodiscard]] Result<void> add_exact_metadata(std::string_view base64, ModelWriter& keys);

}  // namespace ingot::formats
