// SPDX-License-Identifier: MIT
#include <fmt/core.h>

#include <algorithm>
#include <ingot/text.hpp>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/table.hpp"
#include "commands/check/check_report.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

/// Findings of a file that wait for its verdict; a file with more is shown as it is checked.
constexpr std::size_t most_waiting = 10'000;

/// Green, yellow or red.
Style style_of(Verdict verdict) {
  if (verdict == Verdict::ok) return Style::good;
  return verdict == Verdict::warning ? Style::warning : Style::bad;
}

/// The worst first.
int rank_of(const CheckRule& rule) {
  return rule.is_refusal ? 0 : 3 - static_cast<int>(rule.severity);
}

/// For each file its verdict, then its findings, the worst first.
class TextReport final : public CheckReport {
 public:
  TextReport(Console& console, bool is_single, bool is_strict)
      : console_(console), is_single_(is_single), is_strict_(is_strict) {}

  void begin_file(const std::string& file) override {
    file_ = escape(file);
    broken_.clear();
    is_streaming_ = has_findings_ = false;
  }

  void add(const Finding& finding) override {
    Count& count = counts_[finding.rule];
    ++count.findings;
    if (broken_.insert(finding.rule).second) ++count.files;
    waiting_.push_back(finding);
    has_findings_ = true;
    if (is_streaming_ || waiting_.size() > most_waiting) {
      is_streaming_ = true;
      print_waiting();
    }
  }

  void end_file(const CheckedFile& checked) override {
    ++verdicts_[checked.verdict];
    // What failed has its own message; the verdict stands above what was found before.
    if (checked.verdict != Verdict::failed || has_findings_) print_verdict(checked);
    print_waiting();
    // Each file is seen as it is done.
    console_.out().flush();
  }

  void skip(const std::string& file, const std::string& reason) override {
    ++skipped_;
    console_.out().print("{}: {}: {}\n", escape(file), console_.paint(Style::strong, "skipped"),
                         reason);
  }

  void add_others(std::uint64_t count) override { others_ += count; }

  /// How many files break which rule, the worst first, and "4 models: 2 ok, 1 warning, 1 refused; 1
  /// skipped; 3 other files".
  void end() override {
    if (is_single_) return;
    print_rules();
    std::uint64_t models = 0;
    std::string line;
    for (const auto& [verdict, count] : verdicts_) {
      models += count;
      line += fmt::format("{}{} {}", line.empty() ? ": " : ", ", count, name_of(verdict));
    }
    line = counted(models, "model") + line;
    if (skipped_ != 0) line += fmt::format("; {} skipped", skipped_);
    if (others_ != 0) line += "; " + counted(others_, "other file");
    console_.out().print("{}\n", line);
  }

 private:
  struct Count {
    std::uint64_t findings = 0;
    std::uint64_t files = 0;
  };

  /// "bad.gguf: warning: 9 warnings"; that of a refused file says why.
  void print_verdict(const CheckedFile& checked) {
    std::string text;
    const auto append = [&](std::uint64_t count, std::string_view what) {
      if (count != 0) text += (text.empty() ? "" : ", ") + counted(count, what);
    };
    const auto refusal = std::ranges::find_if(
        waiting_, [](const Finding& finding) { return finding.rule->is_refusal; });
    const bool is_refused = refusal != waiting_.end();
    append(checked.summary.errors - (is_refused ? 1 : 0), "error");
    append(checked.summary.warnings, "warning");
    append(checked.summary.notes, "note");
    append(checked.known, "known finding");
    if (is_refused) text = message_of(*refusal) + (text.empty() ? "" : "; " + text);
    console_.print_prose(fmt::format(
        "{}: {}{}{}", file_, console_.paint(style_of(checked.verdict), name_of(checked.verdict)),
        text.empty() ? "" : ": ", text));
    if (!is_refused) return;
    print_remedy(*refusal->rule);
    waiting_.erase(refusal);
  }

  void print_waiting() {
    std::ranges::stable_sort(waiting_, {},
                             [](const Finding& finding) { return rank_of(*finding.rule); });
    for (const Finding& finding : std::exchange(waiting_, {})) {
      const Severity severity = shown_severity(finding, is_strict_);
      const Style style = severity == Severity::note      ? Style::faint
                          : severity == Severity::warning ? Style::warning
                                                          : Style::bad;
      console_.print_prose(
          fmt::format("  {}{}: {}", is_streaming_ ? file_ + ": " : "",
                      console_.paint(style, name_of(severity)), message_of(finding)),
          Style::plain, 6);
      if (severity != Severity::note) print_remedy(*finding.rule);
    }
  }

  [[nodiscard]] std::string message_of(const Finding& finding) const {
    const std::string shard = escape(finding.file);
    std::string text = shard.empty() || shard == file_ ? "" : shard + ": ";
    text += subject_of(finding) + finding.message;
    if (finding.file_offset != Error::no_offset) {
      text += fmt::format(" (byte {})", finding.file_offset);
    }
    return text + " " + console_.paint(Style::faint, fmt::format("[{}]", finding.rule->name));
  }

  /// What to do, said once.
  void print_remedy(const CheckRule& rule) {
    if (!explained_.insert(&rule).second) return;
    console_.print_prose("    " + std::string(rule.remedy), Style::faint);
  }

  void print_rules() const {
    std::vector<std::pair<const CheckRule*, Count>> rows(counts_.begin(), counts_.end());
    std::ranges::sort(rows, {}, [](const auto& row) {
      return std::tuple(rank_of(*row.first), ~row.second.files, ~row.second.findings,
                        row.first->name);
    });
    if (rows.size() < 2) return;
    console_.out().print("\n");
    const Column columns[] = {
        {"files", Align::right},
        {"findings", Align::right},
        {"severity"},
        {"rule"},
        {"what they do not keep, or why they are refused", Align::left, Narrow::wrap}};
    print_table(console_, columns, rows.size(), [&](std::size_t i, std::span<std::string> cells) {
      const auto& [rule, count] = rows[i];
      cells[0] = format_digits(count.files);
      cells[1] = format_digits(count.findings);
      cells[2] = rule->severity_name();
      cells[3] = rule->name;
      cells[4] = rule->title;
    });
    console_.out().print("\n");
  }

  Console& console_;
  bool is_single_;
  bool is_strict_;
  bool is_streaming_ = false;  ///< Findings of this file no longer wait.
  bool has_findings_ = false;  ///< This file has some.
  std::map<const CheckRule*, Count> counts_;
  std::map<Verdict, std::uint64_t> verdicts_;
  std::uint64_t skipped_ = 0;
  std::uint64_t others_ = 0;
  std::string file_;
  std::vector<Finding> waiting_;
  std::set<const CheckRule*> broken_;     ///< By this file.
  std::set<const CheckRule*> explained_;  ///< Rules whose remedy was printed.
};

}  // namespace

std::unique_ptr<CheckReport> make_text_report(Console& console, bool is_single, bool is_strict) {
  return std::make_unique<TextReport>(console, is_single, is_strict);
}

}  // namespace ingot::cli
