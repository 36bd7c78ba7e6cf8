// SPDX-License-Identifier: MIT
#include "commands/check/check_report.hpp"

#include <ingot/version.h>

#include <algorithm>
#include <array>
#include <ingot/digest.hpp>
#include <ingot/text.hpp>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "cli/json_stream.hpp"
#include "cli/table.hpp"
#include "commands/json_members.hpp"
#include "text/error_text.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

Severity shown_severity(const Finding& finding, bool is_strict) {
  const Severity severity = finding.rule->severity;
  return is_strict && severity == Severity::note ? Severity::warning : severity;
}

/// The key or tensor, which messages do not name.
std::string subject_of(const Finding& finding) {
  const std::string& subject = finding.key.empty() ? finding.tensor : finding.key;
  return subject.empty() ? std::string() : "\"" + shown_name(subject) + "\": ";
}

/// Green, yellow or red.
struct Shown {
  std::string_view name;
  Style style;
};
constexpr std::array shown_verdicts = {Shown{"ok", Style::good}, Shown{"warning", Style::warning},
                                       Shown{"error", Style::bad}, Shown{"refused", Style::bad},
                                       Shown{"failed", Style::bad}};

const Shown& shown(Verdict verdict) { return shown_verdicts[static_cast<std::size_t>(verdict)]; }

Shown shown(const Finding& finding, Severity severity) {
  if (finding.rule->is_refusal) return shown(Verdict::refused);
  if (severity == Severity::note) return {name_of(severity), Style::faint};
  return shown(severity == Severity::warning ? Verdict::warning : Verdict::error);
}

/// One line for each finding, then one for the file.
class TextReport final : public CheckReport {
 public:
  TextReport(Console& console, bool is_single, bool is_strict)
      : console_(console), is_single_(is_single), is_strict_(is_strict) {}

  void begin_file(const std::string& file) override {
    file_ = escape(file);
    explained_.clear();
  }

  void add(const Finding& finding) override {
    const Severity severity = shown_severity(finding, is_strict_);
    ++rules_[finding.rule];
    const Shown verdict = shown(finding, severity);
    std::string line = fmt::format("{}: {}: ", finding.file.empty() ? file_ : escape(finding.file),
                                   console_.paint(verdict.style, verdict.name));
    line += subject_of(finding) + finding.message;
    if (finding.file_offset != Error::no_offset) {
      line += fmt::format(" (byte {})", finding.file_offset);
    }
    line += " " + console_.paint(Style::faint, fmt::format("[{}]", finding.rule->name));
    console_.print_prose(line);
    const bool is_new = explained_.insert(finding.rule->name).second;
    if (severity != Severity::note && is_new) {
      console_.print_prose("    " + std::string(finding.rule->remedy), Style::faint);
    }
  }

  void end_file(const CheckedFile& checked) override {
    ++verdicts_[checked.verdict];
    if (checked.verdict == Verdict::failed) return;
    std::string counts;
    const auto append = [&](std::uint64_t count, std::string_view what) {
      if (count != 0) counts += (counts.empty() ? "" : ", ") + counted(count, what);
    };
    append(checked.summary.errors, "error");
    append(checked.summary.warnings, "warning");
    append(checked.summary.notes, "note");
    append(checked.known, "known finding");
    console_.out().print("{}: {}{}{}\n", file_,
                         console_.paint(shown(checked.verdict).style, shown(checked.verdict).name),
                         counts.empty() ? "" : ": ", counts);
    // Each file is seen as it is done.
    console_.out().flush();
  }

  void skip(const std::string& file, const std::string& reason) override {
    ++skipped_;
    console_.out().print("{}: {}: {}\n", escape(file), console_.paint(Style::strong, "skipped"),
                         reason);
  }

  void add_others(std::uint64_t count) override { others_ += count; }

  /// "4 models: 2 ok, 1 warning, 1 refused; 1 skipped; 3 other files", and how often which rule was
  /// broken, the worst and most frequent first.
  void end() override {
    if (is_single_) return;
    print_rules();
    std::uint64_t models = 0;
    std::string line;
    for (const auto& [verdict, count] : verdicts_) {
      models += count;
      line += fmt::format("{}{} {}", line.empty() ? ": " : ", ", count, shown(verdict).name);
    }
    line = counted(models, "model") + line;
    if (skipped_ != 0) line += fmt::format("; {} skipped", skipped_);
    if (others_ != 0) line += "; " + counted(others_, "other file");
    console_.out().print("{}\n", line);
  }

 private:
  void print_rules() const {
    std::vector<std::pair<const CheckRule*, std::uint64_t>> rows(rules_.begin(), rules_.end());
    const auto rank = [](const auto& row) {
      return std::tuple(!row.first->is_refusal, -static_cast<int>(row.first->severity), ~row.second,
                        row.first->name);
    };
    std::ranges::sort(rows, {}, rank);
    if (rows.size() < 2) return;
    console_.out().print("\n");
    for (const auto& [rule, count] : rows) {
      const Shown verdict =
          rule->is_refusal ? shown(Verdict::refused) : Shown{name_of(rule->severity), Style::plain};
      console_.out().print("{:>6} {} [{}] {}\n", count, verdict.name, rule->name, rule->title);
    }
    console_.out().print("\n");
  }

  Console& console_;
  bool is_single_;
  bool is_strict_;
  std::map<const CheckRule*, std::uint64_t> rules_;
  std::map<Verdict, std::uint64_t> verdicts_;
  std::uint64_t skipped_ = 0;
  std::uint64_t others_ = 0;
  std::string file_;
  std::set<std::string_view> explained_;
};

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
    json_.member("verdict", shown(checked.verdict).name);
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

/// `text` as the path of a URI: RFC 3986, section 2.3; slashes stay.
std::string uri_path(std::string_view text) {
  std::string uri;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') ||
                          std::string_view("-._~/").find(c) != std::string_view::npos;
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

/// SARIF 2.1.0, https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
class SarifReport final : public CheckReport {
 public:
  SarifReport(Console& console, bool is_strict)
      : console_(console), json_(console.out()), is_strict_(is_strict) {
    json_.begin_object();
    json_.member("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_.member("version", "2.1.0");
    json_.begin_array("runs");
    json_.begin_object();
    write_tool();
    json_.begin_object("automationDetails", Layout::line);
    json_.member("id", "ingot/check/");
    json_.end();
    json_.begin_array("results");
  }

  void begin_file(const std::string& file) override { file_ = file; }

  void add(const Finding& finding) override {
    const auto object = json_.object(Layout::line);
    json_.member("ruleId", finding.rule->name);
    json_.member("ruleIndex", static_cast<std::uint64_t>(finding.rule - check_rules().data()));
    json_.member("level", name_of(shown_severity(finding, is_strict_)));
    write_text("message", subject_of(finding) + finding.message);
    write_category(finding.rule->category);
    json_.begin_object("partialFingerprints", Layout::line);
    json_.member("ingotFinding/v1", fingerprint(finding));
    json_.end();
    const auto places = json_.array("locations", Layout::line);
    const auto place = json_.object(Layout::line);
    write_physical(finding);
    write_logical(finding);
  }

  void end_file(const CheckedFile& checked) override {
    if (checked.verdict == Verdict::failed) has_failed_ = true;
    console_.out().flush();
  }

  void skip(const std::string& file, const std::string& reason) override {
    skipped_.push_back(escape(file) + " is skipped: " + reason);
  }

  void end() override {
    json_.end();
    json_.begin_array("invocations", Layout::line);
    json_.begin_object(Layout::line);
    json_.member("executionSuccessful", !has_failed_);
    if (!skipped_.empty()) write_skipped();
    json_.end();
    json_.end();
    json_.end();
    json_.end();
    json_.end();
  }

 private:
  /// What stays the same where bytes move: platforms know a finding again by it.
  [[nodiscard]] std::string fingerprint(const Finding& finding) const {
    std::string text(finding.rule->name);
    for (const std::string_view part :
         {std::string_view(finding.file.empty() ? file_ : finding.file),
          std::string_view(finding.key), std::string_view(finding.tensor)}) {
      text.append(1, '\0').append(part);
    }
    return digest_of(DigestAlgorithm::sha256, std::as_bytes(std::span(text))).substr(0, 32);
  }

  void write_text(std::string_view name, std::string_view text) {
    const auto object = json_.object(name, Layout::line);
    json_.member("text", text);
  }

  void write_category(RuleCategory category) {
    const auto object = json_.object("properties", Layout::line);
    json_.member("category", name_of(category));
    json_.values("tags", std::array{name_of(category)}, Layout::line);
  }

  void write_skipped() {
    const auto array = json_.array("toolExecutionNotifications", Layout::line);
    for (const std::string& text : skipped_) {
      const auto object = json_.object(Layout::line);
      json_.member("level", "note");
      write_text("message", text);
    }
  }

  void write_tool() {
    const auto tool = json_.object("tool");
    const auto driver = json_.object("driver");
    json_.member("name", "ingot");
    json_.member("version", INGOT_VERSION_STRING);
    json_.objects("rules", check_rules(), [&](const CheckRule& rule) {
      json_.member("id", rule.name);
      write_text("shortDescription", rule.title);
      write_text("fullDescription", fmt::format("{}; {}", rule.title, rule.remedy));
      write_text("help", rule.remedy);
      json_.begin_object("defaultConfiguration", Layout::line);
      json_.member("level", name_of(rule.severity));
      json_.end();
      write_category(rule.category);
    });
  }

  void write_physical(const Finding& finding) {
    const auto place = json_.object("physicalLocation", Layout::line);
    json_.begin_object("artifactLocation", Layout::line);
    json_.member("uri", uri_path(finding.file.empty() ? file_ : finding.file));
    json_.end();
    if (finding.file_offset != Error::no_offset) {
      const auto region = json_.object("region", Layout::line);
      json_.member("byteOffset", finding.file_offset);
    }
  }

  void write_logical(const Finding& finding) {
    if (finding.key.empty() && finding.tensor.empty()) return;
    const auto array = json_.array("logicalLocations", Layout::line);
    const auto object = json_.object(Layout::line);
    json_.member("name", finding.key.empty() ? finding.tensor : finding.key);
    json_.member("kind", finding.key.empty() ? "tensor" : "key");
  }

  Console& console_;
  JsonStream json_;
  bool is_strict_;
  bool has_failed_ = false;
  std::vector<std::string> skipped_;
  std::string file_;
};

}  // namespace

std::string_view name_of(Verdict verdict) noexcept { return shown(verdict).name; }

Verdict verdict_of(const CheckSummary& summary, bool is_strict) {
  if (summary.is_refused) return Verdict::refused;
  if (summary.errors != 0) return Verdict::error;
  const bool has_warning = summary.warnings != 0 || (is_strict && summary.notes != 0);
  return has_warning ? Verdict::warning : Verdict::ok;
}

std::unique_ptr<CheckReport> make_check_report(Console& console, bool is_sarif, bool is_single,
                                               bool is_strict) {
  if (is_sarif) return std::make_unique<SarifReport>(console, is_strict);
  if (console.is_json()) return std::make_unique<JsonReport>(console, is_single, is_strict);
  return std::make_unique<TextReport>(console, is_single, is_strict);
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
