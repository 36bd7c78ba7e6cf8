// SPDX-License-Identifier: MIT
// How much of an upload would be new whose files are not made yet: their tensors decide.
#pragma once

#include <ingot/upload_plan.hpp>
#include <string>
#include <vector>

#include "cli/console.hpp"

namespace ingot::cli {

struct PlannedFile {
  std::string name;
  UploadBytes bytes;
  /// In tensors that a file of the storage has by name, type and shape: equal if they were made
  /// from the same weights in the same way.
  std::uint64_t likely_bytes = 0;
};

/// Reads what `quantize` or `edit` have printed with --dry-run --json and looks up the tensors of
/// each result in `against`, models or manifests of digests. Only headers are read, and with
/// manifests the weights that a result takes over. What is wrong is reported already.
ExitCode plan_planned(Console& console, const std::string& plan,
                      const std::vector<std::string>& against, std::vector<PlannedFile>& files);

}  // namespace ingot::cli
