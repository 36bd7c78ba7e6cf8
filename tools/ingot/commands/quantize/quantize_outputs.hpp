// SPDX-License-Identifier: MIT
// What is wrong with the outputs of `ingot quantize`, before the work.
#pragma once

#include <ingot/quantize_model.hpp>
#include <span>
#include <string>

#include "commands/quantize/quantize_run.hpp"

namespace ingot::cli {

/// Complains early about what would only fail at the end of the work: files of a result, and the
/// report.
[[nodiscard]] ExitCode check_outputs(const QuantizeRequest& options,
                                     std::span<const QuantizedShard> files, Console& console);

/// Names, sizes and times of the files of a model folder, which are others when one has changed;
/// empty for what is no folder here.
[[nodiscard]] std::string state_of_folder(const std::string& path);

}  // namespace ingot::cli
