// SPDX-License-Identifier: MIT
// JSON files of a model folder, read within limits.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "huggingface/folder/model_folder.hpp"
#include "ingot/error.hpp"

namespace ingot::huggingface {

/// Brackets may be nested that deep.
inline constexpr std::size_t max_json_depth = 100;

/// Whether brackets outside of texts are nested deeper than `max_json_depth`.
[[nodiscard]] bool is_nested_too_deep(std::string_view text) noexcept;

/// Parses JSON. `subject` is the file in messages.
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text, const std::string& subject);

/// The member of an object; nullptr if it is absent or null, and for values that are no object.
[[nodiscard]] const nlohmann::json* find_member(const nlohmann::json& object,
                                                std::string_view name);

/// Reads and parses a file. Objects lose the order of their members.
[[nodiscard]] Result<nlohmann::json> read_json(const ModelFolder& folder, std::string_view file,
                                               std::uint64_t max_bytes = max_text_bytes);

}  // namespace ingot::huggingface
