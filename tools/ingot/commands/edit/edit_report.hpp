// SPDX-License-Identifier: MIT
// What an edit did, for people and as JSON.
#pragma once

#include <ingot/edit.hpp>
#include <string>

#include "cli/console.hpp"
#include "cli/json_stream.hpp"
#include "commands/edit/edit_changes.hpp"

namespace ingot::cli {

/// The result of an edit of a file, planned or done.
struct FileReport {
  EditOutcome outcome;
  bool had_padding = false;
};

/// The edit that is reported.
struct ReportedEdit {
  const std::string& out;  ///< Empty: in place.
  bool is_dry_run = false;
};

/// "in place", "a new file that shares the data"
[[nodiscard]] std::string describe(EditWay way);

/// `explains_padding`: whether a key that the user has not asked for is to be explained.
void print_edit(Console& console, const ReportedEdit& edit, const FileEdit& file,
                const FileReport& report, bool explains_padding);

void write_edit(JsonStream& json, const ReportedEdit& edit, const FileEdit& file,
                const FileReport& report);

}  // namespace ingot::cli
