// SPDX-License-Identifier: MIT
// How findings are shown: for people, as JSON, as SARIF. JSON and SARIF are written as they are
// made.
#pragma once

#include <ingot/check.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/console.hpp"

namespace ingot::cli {

/// `failed`: the system did.
enum class Verdict : std::uint8_t { ok, warning, error, refused, failed };

[[nodiscard]] std::string_view name_of(Verdict verdict) noexcept;

/// The verdict on a model; `is_strict`: notes count as warnings.
[[nodiscard]] Verdict verdict_of(const CheckSummary& summary, bool is_strict);

/// One model that was checked.
struct CheckedFile {
  std::string file;
  Verdict verdict = Verdict::ok;
  CheckSummary summary = {};
  std::uint64_t known = 0;          ///< Findings of the baseline, not in the summary.
  std::optional<Error> error = {};  ///< Why the verdict is `failed`.
  std::string reason = {};          ///< The error in one line, or the time limit.
};

/// The severity as reports show it: with `is_strict`, notes are warnings.
[[nodiscard]] Severity shown_severity(const Finding& finding, bool is_strict);

/// The key or tensor of a finding, which messages do not name, as `"NAME": `; may be empty.
[[nodiscard]] std::string subject_of(const Finding& finding);

class CheckReport {
 public:
  virtual ~CheckReport() = default;
  virtual void begin_file(const std::string& file) = 0;
  virtual void add(const Finding& finding) = 0;
  virtual void end_file(const CheckedFile& checked) = 0;
  /// A model that is not checked, and why; not while a file is begun.
  virtual void skip(const std::string& file, const std::string& reason) = 0;
  /// Files of a folder that are no models.
  virtual void add_others(std::uint64_t count) { static_cast<void>(count); }
  virtual void end() = 0;
};

/// `is_single`: there is one file, so that JSON is one object and no array. `is_strict`: notes are
/// shown as warnings.
[[nodiscard]] std::unique_ptr<CheckReport> make_check_report(Console& console, bool is_sarif,
                                                             bool is_single, bool is_strict);

/// The reports for people and in SARIF, which `make_check_report` chooses from.
[[nodiscard]] std::unique_ptr<CheckReport> make_text_report(Console& console, bool is_single,
                                                            bool is_strict);
[[nodiscard]] std::unique_ptr<CheckReport> make_sarif_report(Console& console, bool is_strict);

/// Prints all rules, as a table or as JSON.
void list_check_rules(Console& console);

}  // namespace ingot::cli
