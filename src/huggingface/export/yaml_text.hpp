// SPDX-License-Identifier: MIT
// Texts as scalars of YAML.
#pragma once

#include <string>
#include <string_view>

namespace ingot::huggingface {

/// The text as it is, if every YAML reader takes it for a text; else in double quotes, with escapes
/// for characters that YAML would not keep.
[[nodiscard]] std::string yaml_scalar(std::string_view text);

}  // namespace ingot::huggingface
