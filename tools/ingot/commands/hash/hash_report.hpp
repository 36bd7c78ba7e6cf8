// SPDX-License-Identifier: MIT
// Digests of a model in the forms in which `ingot hash` prints them.
#pragma once

#include <ingot/digest_manifest.hpp>
#include <ingot/model.hpp>
#include <ingot/model_digests.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console.hpp"
#include "cli/json_stream.hpp"
#include "cli/output.hpp"

namespace ingot::cli {

/// A model and its digests. A digest that was not asked for is empty.
struct HashedModel {
  const std::string& file;  ///< The file as the user named it.
  const Model& model;
  const ModelDigests& digests;
  /// What paths begin with and names leave out: the folder of a list, with its "/".
  std::string_view folder = {};
};

/// A line for each digest: algorithm, digits, name; those of files first.
void print_hash_text(Output& out, const Console& console, const HashedModel& hashed);

/// Prints one object, which is a manifest, too.
void print_hash_json(JsonStream& json, const HashedModel& hashed);

/// The lines that llama-gguf-hash prints: those of tensors, then those of all weights together. The
/// model must be one file. Errc::invalid_argument where a name would break a line.
[[nodiscard]] Result<void> print_gguf_hash(Output& out, Console& console,
                                           const HashedModel& hashed);

/// The lines that sha256sum prints and `sha256sum -c` reads.
void print_sha256sum(Output& out, Console& console, const HashedModel& hashed);

/// Print the result of verifying an entry of a manifest, for people and as an object.
void print_verdict_text(Output& out, const Console& console, const std::string& file,
                        const std::vector<DigestMismatch>& mismatches,
                        std::uint64_t compared_count);
void print_verdict_json(JsonStream& json, const std::string& file,
                        const std::vector<DigestMismatch>& mismatches,
                        std::uint64_t compared_count);

}  // namespace ingot::cli
