// SPDX-License-Identifier: MIT
// Findings that are known, so that they are not reported again.
#pragma once

#include <cstddef>
#include <ingot/check.hpp>
#include <map>
#include <string>

namespace ingot::cli {

/// A file of known findings: a title line, then one finding a line, its fields between tabs:
///
///   rule  file  key:NAME or tensor:NAME or -  SHA-256 of the key's value or -  message
///
/// Text that came out of a model is escaped as it is on the terminal, so no field holds a tab or a
/// line end. Empty lines and lines that begin with # say nothing. Places in the file are left out:
/// they move when keys are added.
class CheckBaseline {
 public:
  /// Errc::invalid_argument if it is no such file.
  [[nodiscard]] static Result<CheckBaseline> read(const std::string& path);

  /// Writes the findings, by file and rule. Errc::already_exists unless `may_replace`.
  [[nodiscard]] Result<void> write(const std::string& path, bool may_replace) const;

  /// `file` is the model that was checked.
  void add(const std::string& file, const Finding& finding);
  /// Whether a finding is known; notes that it was found.
  [[nodiscard]] bool knows(const std::string& file, const Finding& finding);
  /// How many of the findings were not found.
  [[nodiscard]] std::size_t unmet_count() const;

 private:
  std::map<std::string, bool> lines_;  // whether it was found
};

}  // namespace ingot::cli
