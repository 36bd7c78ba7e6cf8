// SPDX-License-Identifier: MIT
// Texts as scalars of YAML.
#pragma once

#include <string>
#include <string_view>

namespace ingot::hf {

/// A text as it stands where every reader takes it for a text, else in double quotes, with escapes
/// for all that YAML would not keep.
[[nodiscard]] std::string yaml_scalar(std::string_view text);

}  // namespace ingot::hf
