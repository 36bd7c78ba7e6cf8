// SPDX-License-Identifier: MIT
// `ingot check FILE...` -- what is wrong or odd about models.

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <ingot/check.hpp>
#include <ingot/text.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/model_files.hpp"
#include "cli/progress.hpp"
#include "commands/check/check_report.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot check model.gguf\n"
    "  ingot check --data model.gguf\n"
    "  ingot check --data --strict uploads/ && publish uploads/\n"
    "  ingot check models/ --json | jq -r '.[] | select(.verdict != \"ok\").file'\n"
    "  ingot check models/ --sarif > findings.sarif\n"
    "\n"
    "Of a folder all files below it are checked whose names end in .gguf; a set of\n"
    "shards is one model. What a rule is about and what to do: --list-rules, or\n"
    "docs/check-rules.md. Files are read, not mapped, unless --io mmap is given.\n"
    "Exit status 1: a model has errors or warnings (with --strict: or notes);\n"
    "3: one is refused, no loader should touch it.";

struct Options {
  std::vector<std::string> files;
  CheckOptions check;
  bool is_strict = false;
  bool is_sarif = false;
  bool lists_rules = false;
};

ExitCode exit_code_of(const CheckSummary& summary, bool is_strict) {
  if (summary.is_refused) return ExitCode::refused;
  const bool is_clean = summary.errors == 0 && summary.warnings == 0;
  return is_clean && !(is_strict && summary.notes != 0) ? ExitCode::done : ExitCode::negative;
}

/// A model that was opened, or not, by somebody else: standard input, which can be opened only
/// once, or a file of another format.
Result<CheckSummary> check_opened(const Result<Model>& model, const CheckOptions& options,
                                  const FindingSink& sink) {
  if (model) return check_model(*model, options, sink);
  const ErrorCategory category = category_of(model.error().code);
  if (category != ErrorCategory::input && category != ErrorCategory::lenient) {
    return fail(model.error());
  }
  const Finding refusal = explain_refusal({}, model.error());
  sink(refusal);
  CheckSummary summary;
  summary.count(refusal);
  return summary;
}

/// A model of another format. If it is in several files, a finding says in which one.
Result<CheckSummary> check_foreign(Console& console, const std::string& file,
                                   const CheckOptions& options, const FindingSink& sink) {
  const Result<Model> model = console.open_model(file, FileAccess::read);
  const ForeignFile* foreign = console.foreign();
  CheckOptions foreign_options = options;
  foreign_options.is_foreign = true;
  return check_opened(model, foreign_options, [&](const Finding& finding) {
    const TensorInfo* tensor = model ? model->find_tensor(finding.tensor) : nullptr;
    const std::optional<Origin> origin = tensor != nullptr ? model->origin(*tensor) : std::nullopt;
    if (!origin || foreign == nullptr || foreign->paths.size() < 2) return sink(finding);
    Finding placed = finding;
    placed.file = foreign->paths[origin->file];
    sink(placed);
  });
}

bool is_foreign(const std::string& file) {
  return detect_format(file).value_or(FileFormat::gguf) != FileFormat::gguf;
}

ExitCode check_one(const Options& options, const std::string& file, Console& console,
                   CheckReport& report) {
  const OpenOptions open_options = console.open_options(FileAccess::read);
  const OrderlyStop orderly_stop;
  CheckOptions check_options = options.check;
  check_options.thread_count = console.threads();
  std::optional<Progress> progress;
  if (check_options.with_data) progress.emplace(console, file, model_bytes(file));
  if (progress) check_options.progress = progress->go_on();
  report.begin_file(file);
  const FindingSink sink = [&](const Finding& finding) { report.add(finding); };
  const Result<CheckSummary> summary =
      file == "-"
          ? check_opened(Model::open_descriptor(STDIN_FILENO, open_options), check_options, sink)
      : is_foreign(file) ? check_foreign(console, file, check_options, sink)
                         : check_file(file, open_options, check_options, sink);
  progress.reset();
  if (!summary) {
    report.end_file({}, "failed");
    return console.fail(file, summary.error());
  }
  const ExitCode code = exit_code_of(*summary, options.is_strict);
  report.end_file(*summary, summary->is_refused          ? "refused"
                            : summary->errors != 0       ? "error"
                            : code == ExitCode::negative ? "warning"
                                                         : "ok");
  return code;
}

ExitCode run(const Options& options, Console& console) {
  if (options.is_sarif && console.is_json()) {
    return console.refuse_usage("check: --sarif and --json are two formats; give one of them");
  }
  if (options.lists_rules) {
    list_check_rules(console);
    return ExitCode::done;
  }
  if (options.files.empty()) {
    return console.refuse_usage("check: FILE is required; 'ingot help check' explains it");
  }
  ExitCode code = ExitCode::done;
  // One file that was named is one document; anything else may be several.
  const bool is_single = options.files.size() == 1 && !is_folder(options.files[0]);
  const std::unique_ptr<CheckReport> report =
      make_check_report(console, options.is_sarif, is_single, options.is_strict);
  for (const std::string& place : options.files) {
    for_each_model(console, place, [&](const std::string& file) {
      code = std::max(code, check_one(options, file, console, *report));
      return console.out().is_open() && stop_signal() == 0;
    });
    if (stop_signal() != 0) break;
  }
  report->end();
  return code;
}

}  // namespace

void add_check_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      add_command(program, "check", "Find what is wrong or odd about models", examples);
  add_argument(command, "FILE", options->files,
               "GGUF files or folders; any shard names its set, - is standard input");
  add_switch(command, "--data", options->check.with_data,
             "Read all weights too: NaN, infinities, impossible scales");
  add_switch(command, "--strict", options->is_strict, "Notes count as warnings");
  add_number(command, "--limit", options->check.max_findings_per_rule, 0, 1'000'000'000,
             "Findings of one rule in one model, 0 for all; default: 20");
  add_switch(command, "--sarif", options->is_sarif,
             "Print a SARIF 2.1.0 document, for code-scanning platforms");
  add_switch(command, "--list-rules", options->lists_rules, "Print the rules instead");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
