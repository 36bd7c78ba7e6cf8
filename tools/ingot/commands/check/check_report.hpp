// SPDX-License-Identifier: MIT
// How findings are shown: for people, as JSON, as SARIF. Each is written as it is made.
#pragma once

#include <ingot/check.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "cli/console.hpp"

namespace ingot::cli {

class CheckReport {
 public:
  virtual ~CheckReport() = default;
  virtual void begin_file(const std::string& file) = 0;
  virtual void add(const Finding& finding) = 0;
  /// `verdict`: "ok", "warning", "error", "refused", or "failed" if the system failed.
  virtual void end_file(const CheckSummary& summary, std::string_view verdict) = 0;
  virtual void end() = 0;
};

/// `is_single`: there is one file, so that JSON is one object and no array. `is_strict`: notes are
/// shown as warnings.
[[nodiscard]] std::unique_ptr<CheckReport> make_check_report(Console& console, bool is_sarif,
                                                             bool is_single, bool is_strict);

/// All rules, as a table or as JSON.
void list_check_rules(Console& console);

}  // namespace ingot::cli
