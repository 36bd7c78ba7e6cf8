// SPDX-License-Identifier: MIT
#include "commands/edit/edit_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ingot/text.hpp>
#include <optional>

#include "commands/json_members.hpp"
#include "commands/output_name.hpp"
#include "text/value_text.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

/// "46 bytes", "4.00 KiB"
std::string bytes_text(std::uint64_t bytes) {
  if (bytes >= 1024) return format_bytes(bytes);
  return counted(bytes, "byte");
}

/// "set key NAME: OLD -> NEW", as wide as the terminal.
void print_change(Console& console, const Change& change) {
  const std::string name = escape(change.name);
  std::string action(change.action);
  std::replace(action.begin(), action.end(), '_', ' ');
  const std::size_t room = console.room(action.size() + display_columns(name) + 10, 40);
  const auto text = [&](const std::optional<OwnedValue>& value) {
    // Outside a terminal, too, this is a report for people; --json has the whole value.
    constexpr std::size_t array_columns = 40;
    constexpr std::size_t most_columns = 400;
    const Value shown = value->value();
    return short_value_text(shown,
                            std::min(room / 2, shown.is_array() ? array_columns : most_columns));
  };
  std::string line = "  " + action + " " + name;
  if (change.value && change.old) {
    line += ": " + text(change.old) + " -> " + text(change.value);
  } else if (change.value) {
    line += " = " + text(change.value) + " (" + spec_text(spec_of(change.value->value())) + ")";
  } else if (change.old) {
    line += ", which was " + text(change.old);
  } else if (!change.new_name.empty()) {
    line += " to " + escape(change.new_name);
  }
  console.print_prose(line);
}

/// Why there is a key that the user has not asked for, and how to do without.
void print_padding(Console& console, const FileReport& report) {
  if (report.outcome.done.padding_bytes == 0 || report.had_padding) return;
  const EditWay way = report.outcome.done.way;
  const std::string_view reason = way == EditWay::insert_range
                                      ? "fill the room, which is inserted in whole blocks"
                                  : way == EditWay::in_place ? "keep the data in its place"
                                                             : "leave room for the next edit";
  console.print_prose(
      fmt::format("  add key {}: {} that every reader skips {}; --compact -o OUT leaves them out",
                  padding_key, bytes_text(report.outcome.done.padding_bytes), reason));
}

void write_change(JsonStream& json, const Change& change) {
  const auto object = json.object(Layout::line);
  json.member("action", change.action);
  json.member("name", change.name);
  json.text_or_null("new_name", change.new_name);
  if (change.value) {
    const Value value = change.value->value();
    json.member("type", spec_text(spec_of(value)));
    write_value_member(json, value);
  }
  if (change.old) {
    const Value old = change.old->value();
    json.member("old_type", spec_text(spec_of(old)));
    write_value_member(json, old, "old_");
  }
}

}  // namespace

std::string describe(EditWay way) {
  switch (way) {
    case EditWay::nothing:
      return "nothing to do";
    case EditWay::in_place:
      return "in place";
    case EditWay::insert_range:
      return "in place, with room inserted before the data";
    case EditWay::shared_copy:
      return "a new file that shares the data";
    case EditWay::copy:
      return "a new file with a copy of the data";
  }
  return {};
}

void print_edit(Console& console, const ReportedEdit& edit, const FileEdit& file,
                const FileReport& report, bool explains_padding) {
  if (console.is_quiet()) return;
  const EditPlan& plan = report.outcome.done;
  const std::string& out = edit.out.empty() ? file.file : edit.out;
  std::string line;
  if (plan.way == EditWay::nothing || edit.is_dry_run) {
    line = escape(out) + ": " + describe(plan.way);
    if (plan.way != EditWay::nothing) {
      line += fmt::format(", {} would be written", format_bytes(plan.bytes_to_write));
    }
  } else {
    const bool is_part = plan.way == EditWay::in_place || plan.way == EditWay::insert_range;
    line = written_text(out, format_bytes(plan.bytes_to_write) + (is_part ? " of it" : ""),
                        describe(plan.way));
  }
  line += plan.slack_bytes == 0
              ? std::string("; no room is left for later edits")
              : fmt::format("; {} left for later edits", bytes_text(plan.slack_bytes));
  console.print_prose(line);
  for (const Change& change : file.changes) print_change(console, change);
  if (explains_padding) print_padding(console, report);
}

void write_edit(JsonStream& json, const ReportedEdit& edit, const FileEdit& file,
                const FileReport& report) {
  const auto object = json.object();
  json.member("file", file.file);
  json.member("output", edit.out.empty() ? file.file : edit.out);
  json.member("dry_run", edit.is_dry_run);
  write_members(json, report.outcome);
  const auto array = json.array("changes");
  for (const Change& change : file.changes) write_change(json, change);
}

}  // namespace ingot::cli
