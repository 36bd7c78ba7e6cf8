// SPDX-License-Identifier: MIT
#include "commands/check/check_report.hpp"

#include <array>
#include <span>

#include "cli/json_stream.hpp"
#include "cli/table.hpp"
#include "commands/json_members.hpp"
#include "text/error_text.hpp"

namespace ingot::cli {
namespace {

/// docs/json.md
class JsonReport final : public CheckReport {
 public:
  JsonReport(Console& console, bool is_single, bool is_strict)
      : console_(console), json_(console.out()), is_single_(is_single), is_strict_(is_strict) {
    if (!is_single_) json_.begin_array();
  }

  void begin_file(const std::string& file) override {
    json_.begin_object();
    json_.member("file", file);
    json_.begin_array("findings");
  }

  void add(const Finding& finding) override {
    CheckRule rule = *finding.rule;
    rule.severity = shown_severity(finding, is_strict_);
    Finding shown = finding;
    shown.rule = &rule;
    const auto object = json_.object(Layout::line);
    write_members(json_, shown);
  }

  void end_file(const CheckedFile& checked) override {
    json_.end();
    json_.member("verdict", name_of(checked.verdict));
    if (checked.error) {
      json_.member("reason", checked.reason);
      json_.member("code", name_of(checked.error->code));
    }
    json_.member("errors", checked.summary.errors);
    json_.member("warnings", checked.summary.warnings);
    json_.member("notes", checked.summary.notes);
    json_.member("security", checked.summary.security);
    json_.member("known", checked.known);
    json_.end();
    console_.out().flush();
  }

  void skip(const std::string& file, const std::string& reason) override {
    const auto object = json_.object();
    json_.member("file", file);
    json_.begin_array("findings");
    json_.end();
    json_.member("verdict", "skipped");
    json_.member("reason", reason);
  }

  void end() override {
    if (!is_single_) json_.end();
  }

 private:
  Console& console_;
  JsonStream json_;
  bool is_single_;
  bool is_strict_;
};

}  // namespace

std::string_view name_of(Verdict verdict) noexcept {
  constexpr std::array<std::string_view, 5> names = {"ok", "warning", "error", "refused", "failed"};
  return names[static_cast<std::size_t>(verdict)];
}

Severity shown_severity(const Finding& finding, bool is_strict) {
  const Severity severity = finding.rule->severity;
  return is_strict && severity == Severity::note ? Severity::warning : severity;
}

std::string subject_of(const Finding& finding) {
  const std::string& subject = finding.key.empty() ? finding.tensor : finding.key;
  return subject.empty() ? std::string() : "\"" + shown_name(subject) + "\": ";
}

Verdict verdict_of(const CheckSummary& summary, bool is_strict) {
  if (summary.is_refused) return Verdict::refused;
  if (summary.errors != 0) return Verdict::error;
  const bool has_warning = summary.warnings != 0 || (is_strict && summary.notes != 0);
  return has_warning ? Verdict::warning : Verdict::ok;
}

std::unique_ptr<CheckReport> make_check_report(Console& console, bool is_sarif, bool is_single,
                                               bool is_strict) {
  if (is_sarif) return make_sarif_report(console, is_strict);
  if (console.is_json()) return std::make_unique<JsonReport>(console, is_single, is_strict);
  return make_text_report(console, is_single, is_strict);
}

void list_check_rules(Console& console) {
  const std::span<const CheckRule> rules = check_rules();
  if (!console.is_json()) {
    const Column columns[] = {{"rule"},
                              {"severity"},
                              {"source", Align::left, Narrow::hide},
                              {"category", Align::left, Narrow::hide},
                              {"requirement", Align::left, Narrow::wrap}};
    return print_table(console, columns, rules.size(),
                       [&](std::size_t row, std::span<std::string> cells) {
                         cells[0] = rules[row].name;
                         cells[1] = rules[row].severity_name();
                         cells[2] = name_of(rules[row].source);
                         cells[3] = name_of(rules[row].category);
                         cells[4] = rules[row].title;
                       });
  }
  JsonStream json(console.out());
  json.objects(rules, [&](const CheckRule& rule) { write_members(json, rule); });
}

}  // namespace ingot::cli
