// SPDX-License-Identifier: MIT
// The report of `ingot evaluate` in a file.
#pragma once

#include "commands/evaluate/evaluation_output.hpp"

namespace ingot::cli {

/// Writes the figures to a file: a page if its name ends in .html or .htm, else JSON.
[[nodiscard]] Result<void> write_evaluation_report(const std::string& path,
                                                   const EvaluationFacts& facts, bool replace);

}  // namespace ingot::cli
