// SPDX-License-Identifier: MIT
// The size of a model in a name: "7.2B", "8x1.6B".
#pragma once

#include <string>

#include "huggingface/import/general/general_keys.hpp"
#include "ingot/export.h"

namespace ingot::huggingface {

/// The label of a number of parameters; with experts, their number and the parameters of one expert
/// with the shared ones.
[[nodiscard]] INGOT_EXPORT std::string size_label(const ParameterCounts& counts);

}  // namespace ingot::huggingface
