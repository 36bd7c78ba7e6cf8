// SPDX-License-Identifier: MIT
// Repair a model, as far as possible, into a new file (target ingot::convert).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ingot/describe.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"

namespace ingot {

struct RepairOptions {
  /// Whether to leave out broken tensors: cut off, in a missing shard, of a type of unknown size,
  /// with more dimensions or a longer name than a strict reader takes, or with weights or scales
  /// that are not finite. Reads all weights.
  bool drops_broken = false;
  bool may_replace = false;   ///< An existing file at the target.
  bool is_dry_run = false;    ///< Write nothing; only report.
  unsigned thread_count = 0;  ///< The threads that look for broken weights; 0: one per core.
  /// Receives the bytes written so far; false ends the work with Errc::interrupted.
  std::function<bool(std::uint64_t done_bytes)> progress = {};
};

/// One repair. `what` is safe to print, the others are raw bytes.
struct RepairStep {
  std::string what;
  std::string key;     ///< May be empty.
  std::string tensor;  ///< May be empty.
};

template <class Visitor>
void describe(Visitor& visit, const RepairStep& step) {
  visit("what", step.what, "", "was done, for people");
  visit("key", text_if_any(step.key), "", "the key that it was done to, or null");
  visit("tensor", text_if_any(step.tensor), "", "the tensor that it was done to, or null");
}

struct RepairReport {
  std::vector<RepairStep> steps;  ///< If empty, nothing needed repair, and nothing was written.
  /// Tensors that would have to be left out, and why. Not empty only without `drops_broken`: then
  /// nothing was written.
  std::vector<RepairStep> losses;
  std::uint64_t lost_tensors = 0;  ///< The number of lost tensors, including those in missing
                                   ///< shards.
  std::uint64_t kept_tensors = 0;
  std::uint64_t dropped_tensors = 0;  ///< The number of dropped tensors, including those in missing
                                      ///< shards.
  bool is_written = false;
};

template <class Visitor>
void describe(Visitor& visit, const RepairReport& report) {
  visit("steps", report.steps, "", "in their order; empty if nothing needs repair");
  visit("losses", report.losses, "",
        "tensors that would have to be left out, and why; empty with `--drop-broken`");
  visit("lost_tensors", report.lost_tensors, "tensors", "that would have to be left out");
  visit("kept_tensors", report.kept_tensors, "tensors", "of the result");
  visit("dropped_tensors", report.dropped_tensors, "tensors", "that were left out");
  visit("written", report.is_written, "", "whether there is a new file");
}

/// Writes the model at `path` (of a set of shards: the set, as one file) to `target`, with
/// - the usual magic, padding of zeros, data in the order of the table without gaps, nothing after
/// it;
/// - an alignment that fits the offsets of the data, and is portable;
/// - strings without trailing NULs, bools of 0 and 1;
/// - `general.quantization_version`, where it is missing or of a wrong type;
/// - the `general.file_type` of the tensors, where the file has a wrong one;
/// - no `split.*` keys.
/// Version and byte order are kept, unless version 1 or 2 cannot hold the content: then it becomes
/// version 3. The result opens strictly, and repairing it again changes nothing. A name that is too
/// long is not cut: programs look for it. The target appears complete or not
/// at all; the input is never changed. Memory is bounded by the header.
///
/// @return  the reader's error if the file cannot be read in any way; Errc::already_exists;
///          Errc::invalid_argument if both paths are the same file.
[[nodiscard]] INGOT_EXPORT Result<RepairReport> repair_model(const std::string& path,
                                                             const std::string& target,
                                                             const RepairOptions& options);

}  // namespace ingot
