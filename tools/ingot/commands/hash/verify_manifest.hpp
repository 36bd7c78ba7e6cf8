// SPDX-License-Identifier: MIT
// `ingot hash --verify`: whether files are as a manifest says.
#pragma once

#include <ingot/digest.hpp>
#include <ingot/digest_manifest.hpp>
#include <string>
#include <vector>

#include "cli/console.hpp"

namespace ingot::cli {

struct VerifyRequest {
  std::vector<std::string> files;           ///< If empty, all files of the manifest.
  std::vector<DigestAlgorithm> algorithms;  ///< If empty, the strongest of each entry.
  std::string manifest;                     ///< Path, or "-".
};

/// Whether an entry is about the file of a name, by the whole path or by its last part.
[[nodiscard]] bool is_about(const ManifestEntry& entry, const std::string& file, bool by_base_name);

/// Prints a verdict for each file. `negative` if something differs.
[[nodiscard]] ExitCode verify_manifest(const VerifyRequest& request, Console& console);

}  // namespace ingot::cli
