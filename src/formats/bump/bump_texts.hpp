// SPDX-License-Identifier: MIT
// The two text files beside a bump file, as the original converters write them to the byte.
#pragma once

#include <string>

#include "formats/bump/bump_plan.hpp"

namespace ingot::formats {

/// The shortest digits that give the same double, as Python prints them: "1e-05", "10000.0".
[[nodiscard]] std::string python_float(double number);

[[nodiscard]] std::string bump_config_text(const BumpPlan& plan);
[[nodiscard]] std::string bump_manifest_text(const BumpPlan& plan);

}  // namespace ingot::formats
