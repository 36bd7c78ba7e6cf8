// SPDX-License-Identifier: MIT
// The importance data and the sensitivities of a run of `ingot quantize`.
#pragma once

#include <ingot/imatrix.hpp>
#include <ingot/quantize_model.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/console.hpp"
#include "commands/quantize/quantize_run.hpp"

namespace ingot::cli {

/// Opens and merges the files that the options name; `matrix` stays empty if they name none.
[[nodiscard]] ExitCode open_importance(const QuantizeRequest& options, Console& console,
                                       std::optional<ImportanceMatrix>& matrix);

/// Reads the file of sensitivities that the options name; there are none if they name none.
[[nodiscard]] ExitCode open_sensitivities(const QuantizeRequest& options, Console& console,
                                          std::vector<TensorSensitivity>& sensitivities);

/// Remarks which of the tensors to quantize have importance data.
void remark_coverage(const ImportanceMatrix& matrix, const QuantizePlan& plan, const Model& model,
                     const std::string& name, Console& console);

/// Remarks that the effort `best` promises less if no tensor is encoded with error feedback.
void remark_moments(const QuantizePlan& plan, const std::string& name, Console& console);

}  // namespace ingot::cli
