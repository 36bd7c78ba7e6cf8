// SPDX-License-Identifier: MIT
// Digests of several models, several at a time.
#pragma once

#include <ingot/model.hpp>
#include <ingot/model_digests.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/console.hpp"

namespace ingot::cli {

/// One model to hash.
struct HashJob {
  std::string file;
  bool with_shards = true;
  DigestRequest request;
  std::optional<Model> model;           ///< Set by `hash_all`, where it opens.
  std::optional<ModelDigests> digests;  ///< Set by `hash_all`, unless something failed.
  /// Set by `hash_all` for a file of another format: the files, which its model does not name.
  std::vector<std::string> foreign_paths = {};
  std::optional<Error> error = {};  ///< Set by `hash_all`, where something failed.
};

/// Opens and hashes all models, with a progress bar, and prints errors. Uses all threads, also for
/// many models with few digests each. Returns the exit code so far; after an interruption, that of
/// the signal.
[[nodiscard]] ExitCode hash_all(std::span<HashJob> jobs, Console& console);

}  // namespace ingot::cli
