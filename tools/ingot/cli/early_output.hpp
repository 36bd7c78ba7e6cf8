// SPDX-License-Identifier: MIT
// Outputs that cannot be written are noticed before the work, not at its end.
#pragma once

#include <ingot/output_file.hpp>
#include <string>

#include "cli/console.hpp"

namespace ingot::cli {

/// Complains of a file that exists and may not be replaced, and of a folder that is missing or
/// locked. Nothing is left of the attempt.
[[nodiscard]] inline ExitCode check_early(const std::string& output, bool may_replace,
                                          Console& console) {
  const Result<OutputFile> attempt = OutputFile::create(output, may_replace);
  return attempt ? ExitCode::done : console.fail(output, attempt.error());
}

}  // namespace ingot::cli
