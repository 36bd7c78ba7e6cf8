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

/// The effort of the options. Samples of a remote model would be fetched before the user is asked
/// for its weights, and again with them, so that no lattice is looked for there.
[[nodiscard]] Effort usable_effort(const QuantizeRequest& options, Console& console);

/// Remarks which tensors keep the lattice that they lie on, and which do not; of the effort `best`
/// that it promises less if no tensor is encoded with error feedback.
void remark_effort(Effort effort, const QuantizePlan& plan, const std::string& name,
                   Console& console);

}  // namespace ingot::cli
