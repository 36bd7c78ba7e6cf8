// SPDX-License-Identifier: MIT
// Fills a catalogue: finds the models of folders and repositories, reads what is new, and drops
// what is gone.
#pragma once

#include <span>
#include <string>

#include "cli/console.hpp"
#include "commands/catalog/catalog_file.hpp"

namespace ingot::cli {

/// Adds files, folders and repositories, or looks at those again that were added before. A file
/// that is as it was is not read.
[[nodiscard]] ExitCode add_to_catalog(Console& console, const std::string& path,
                                      std::span<const std::string> places, bool with_digests);
[[nodiscard]] ExitCode update_catalog(Console& console, const std::string& path);

}  // namespace ingot::cli
