// SPDX-License-Identifier: MIT
// `ingot check FILE...` -- what is wrong or odd about models.

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ingot/check.hpp>
#include <ingot/check_folder.hpp>
#include <ingot/store.hpp>
#include <ingot/text.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "cli/console.hpp"
#include "cli/declaration.hpp"
#include "cli/imported_folder.hpp"
#include "cli/interrupt.hpp"
#include "cli/model_files.hpp"
#include "cli/progress.hpp"
#include "commands/check/check_baseline.hpp"
#include "commands/check/check_report.hpp"
#include "text/whole_file.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot check model.gguf\n"
    "  ingot check --data model.gguf\n"
    "  ingot check --data --strict uploads/ && publish uploads/\n"
    "  ingot check --fail-on error,security uploads/\n"
    "  ingot check models/ --json | jq -r '.[] | select(.verdict != \"ok\").file'\n"
    "  ingot check model.gguf --with mmproj.gguf\n"
    "  ingot check models/ --sarif > findings.sarif\n"
    "  ingot check models/ --write-baseline known.txt\n"
    "  ingot check models/ --baseline known.txt\n"
    "  ingot check hf:Qwen/Qwen3-0.6B          # a model folder, without its weights\n"
    "\n"
    "Of a folder or repository all files below it are checked whose names end in\n"
    ".gguf, or are digests, as in the stores of hubs and Ollama; a set of shards is\n"
    "one model, and so is a Hugging Face folder, which has config.json and no GGUF.\n"
    "Models under other names and links to folders are listed as skipped.\n"
    "What a rule is about and what to do: --list-rules, or\n"
    "docs/check-rules.md. Files are read, not mapped, unless --io mmap is given.\n"
    "Exit status 1: a model has errors or warnings (with --strict: notes, or one was\n"
    "skipped), or what --fail-on names; 2: in a folder, nothing was checked;\n"
    "3: a model is refused, no loader should touch it, whatever rules are chosen.";

struct Options {
  std::vector<std::string> files;
  CheckOptions check;
  std::vector<std::string> fail_on;
  std::vector<std::string> ignored;
  std::vector<std::string> only;
  std::string template_file;
  std::string projector;
  std::string baseline;
  std::string new_baseline;
  bool may_replace = false;
  bool is_strict = false;
  bool is_sarif = false;
  bool lists_rules = false;
};

/// The findings that make the answer "no".
struct FailOn {
  bool error = false;
  bool warning = false;
  bool security = false;
};

/// One run over all files.
struct Run {
  const Options& options;
  Console& console;
  CheckReport& report;
  FailOn fail_on;
  CheckBaseline known = {};  ///< Findings that are not reported.
  CheckBaseline found = {};  ///< Findings for a new baseline.
  ExitCode code = ExitCode::done;
};

ExitCode exit_code_of(const CheckSummary& summary, const Run& run) {
  if (summary.is_refused) return ExitCode::refused;
  if (!run.options.new_baseline.empty()) return ExitCode::done;
  const bool has_warning =
      summary.errors + summary.warnings + (run.options.is_strict ? summary.notes : 0) != 0;
  const bool fails = (run.fail_on.error && summary.errors != 0) ||
                     (run.fail_on.warning && has_warning) ||
                     (run.fail_on.security && summary.security != 0);
  return fails ? ExitCode::negative : ExitCode::done;
}

Verdict verdict_of(const CheckSummary& summary, bool is_strict) {
  if (summary.is_refused) return Verdict::refused;
  if (summary.errors != 0) return Verdict::error;
  const bool has_warning = summary.warnings != 0 || (is_strict && summary.notes != 0);
  return has_warning ? Verdict::warning : Verdict::ok;
}

/// A model that the caller has opened, or failed to open: standard input, which opens only
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

Result<CheckSummary> check_remote(Console& console, const std::string& file,
                                  const CheckOptions& options, const FindingSink& sink) {
  INGOT_TRY(const auto folder, find_remote_model(console, file));
  if (folder) {
    if (options.with_data) INGOT_TRY_VOID(prepare_weights(console, file));
    return check_folder(*folder->store, folder->path, options, sink);
  }
  const Result<Model> model = console.open_stored(file, FileAccess::read);
  if (model && options.with_data) INGOT_TRY_VOID(console.before_reading(file, *model));
  return check_opened(model, options, sink);
}

/// A model of another format. If it is in several files, a finding says in which one.
Result<CheckSummary> check_foreign(Console& console, const std::string& file,
                                   const CheckOptions& options, const FindingSink& sink) {
  const Result<Model> model = console.open_stored(file, FileAccess::read);
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

/// A loader takes what is called .gguf for GGUF, so nothing else may be called so.
bool is_foreign(const std::string& file) {
  return !is_model_name(file) && detect_format(file).value_or(FileFormat::gguf) != FileFormat::gguf;
}

void check_one(Run& run, const std::string& file) {
  Console& console = run.console;
  const OpenOptions open_options = console.open_options(FileAccess::read);
  const OrderlyStop orderly_stop;
  CheckOptions check_options = run.options.check;
  check_options.thread_count = console.threads();
  std::optional<Progress> progress;
  if (check_options.with_data) progress.emplace(console, file, model_bytes(file));
  if (progress) check_options.progress = progress->go_on();
  if (open_options.is_header_only) console.remark(file, "only the header is checked");
  run.report.begin_file(file);
  CheckedFile checked{.file = file};
  const FindingSink sink = [&](const Finding& finding) {
    if (!finding.rule->is_refusal) {
      if (!run.options.new_baseline.empty()) run.found.add(file, finding);
      if (run.known.knows(file, finding)) return static_cast<void>(++checked.known);
    }
    checked.summary.count(finding);
    run.report.add(finding);
  };
  const Result<CheckSummary> result =
      file == "-"
          ? check_opened(Model::open_descriptor(STDIN_FILENO, open_options), check_options, sink)
      : is_folder(file)                 ? check_folder(file_system(), file, check_options, sink)
      : console.remote().is_meant(file) ? check_remote(console, file, check_options, sink)
      : is_foreign(file)                ? check_foreign(console, file, check_options, sink)
                                        : check_file(file, open_options, check_options, sink);
  progress.reset();
  if (!result) {
    checked.verdict = Verdict::failed;
    run.report.end_file(checked);
    run.code = std::max(run.code, console.fail(file, result.error()));
    return;
  }
  checked.verdict = verdict_of(checked.summary, run.options.is_strict);
  run.report.end_file(checked);
  run.code = std::max(run.code, exit_code_of(checked.summary, run));
}

/// References to the GGUF models of a repository, each with file and commit; none for other places,
/// and for a repository that is the folder of one model, or cannot be listed.
std::vector<std::string> models_of_repository(Console& console, const std::string& place) {
  std::vector<std::string> references;
  if (!console.remote().is_repository(place)) return references;
  const auto folder = find_remote_model(console, place);
  if (!folder || *folder) return references;
  const auto models = console.remote().list(console, place);
  if (!models) return references;
  for (const RepositoryModel& model : *models) {
    if (is_model_name(model.name)) references.push_back(model.reference);
  }
  return references;
}

/// A place that was named: a file, or a folder of models.
void check_place(Run& run, const std::string& place) {
  const auto check = [&](const std::string& file) {
    check_one(run, file);
    return run.console.out().is_open() && stop_signal() == 0;
  };
  if (const std::vector<std::string> models = models_of_repository(run.console, place);
      !models.empty()) {
    static_cast<void>(std::ranges::all_of(models, check));
    return;
  }
  if (!is_folder(place)) {
    check(place);
    return;
  }
  const FolderCounts counts = for_each_model(
      run.console, place, check,
      [&](const std::string& file, const std::string& reason) {
        run.report.skip(file, reason);
        if (run.options.is_strict) run.code = std::max(run.code, ExitCode::negative);
      },
      [&](const std::string& folder) {
        return has_model_to_import(file_system(), folder) && (check_one(run, folder), true);
      });
  run.report.add_others(counts.others);
  if (counts.models != 0) return;
  run.console.complain(
      place, "nothing was checked: there is no file whose name ends in .gguf, and no config.json");
  run.code = std::max(run.code, ExitCode::usage);
}

std::optional<FailOn> parse_fail_on(const std::vector<std::string>& words) {
  FailOn fail_on{.warning = words.empty()};
  for (const std::string& word : words) {
    if (word == "error") {
      fail_on.error = true;
    } else if (word == "warning") {
      fail_on.warning = true;
    } else if (word == "security") {
      fail_on.security = true;
    } else {
      return std::nullopt;
    }
  }
  return fail_on;
}

/// What is wrong with the names of rules; empty if nothing.
std::string problem_of_rules(const Options& options) {
  for (const auto* names : {&options.ignored, &options.only}) {
    for (const std::string& name : *names) {
      const CheckRule* rule = find_check_rule(name);
      if (rule == nullptr) {
        return "there is no rule \"" + escape(name) + "\"; --list-rules prints them";
      }
      if (rule->is_refusal && names == &options.ignored) {
        return escape(name) + " cannot be ignored: files that break it do not open";
      }
    }
  }
  return {};
}

void choose_rules(Options& options) {
  if (options.ignored.empty() && options.only.empty()) return;
  options.check.is_wanted = [&options](const CheckRule& rule) {
    const auto names = [&](const std::vector<std::string>& list) {
      return std::find(list.begin(), list.end(), rule.name) != list.end();
    };
    return (options.only.empty() || names(options.only)) && !names(options.ignored);
  };
}

std::string usage_problem(const Options& options, bool is_json) {
  if (options.is_sarif && is_json) return "--sarif and --json are two formats; give one of them";
  if (options.files.empty() && !options.lists_rules) {
    return "FILE is missing; the usage is: ingot check [OPTIONS] FILE...";
  }
  if (!parse_fail_on(options.fail_on)) {
    return "--fail-on takes error, warning and security, several with commas between them";
  }
  return problem_of_rules(options);
}

/// Ends a run: what is known and did not come, and the new baseline.
ExitCode finish_baselines(const Run& run) {
  const Options& options = run.options;
  if (const std::size_t unmet = run.known.unmet_count(); unmet != 0) {
    run.console.remark(options.baseline, fmt::format("{} known finding{} not found any more", unmet,
                                                     unmet == 1 ? " was" : "s were"));
  }
  if (options.new_baseline.empty() || stop_signal() != 0) return run.code;
  const Result<void> written = run.found.write(options.new_baseline, options.may_replace);
  if (written) return run.code;
  return std::max(run.code, run.console.fail(options.new_baseline, written.error()));
}

ExitCode run(Options& options, Console& console) {
  const std::string problem = usage_problem(options, console.is_json());
  if (!problem.empty()) return console.refuse_usage("check: " + problem);
  if (options.lists_rules) {
    list_check_rules(console);
    return ExitCode::done;
  }
  choose_rules(options);
  if (!options.template_file.empty()) {
    INGOT_CLI_TRY(options.check.chat_template, read_whole(options.template_file), console,
                  options.template_file);
  }
  std::optional<Model> projector;
  if (!options.projector.empty()) {
    INGOT_CLI_TRY(projector, console.open_stored(options.projector, FileAccess::read), console,
                  options.projector);
    options.check.projector = &*projector;
  }
  options.check.with_value_digests = !options.baseline.empty() || !options.new_baseline.empty();
  CheckBaseline known;
  if (!options.baseline.empty()) {
    INGOT_CLI_TRY(known, CheckBaseline::read(options.baseline), console, options.baseline);
  }
  // One file that was named is one document; anything else may be several.
  const bool is_single = options.files.size() == 1 && !is_folder(options.files[0]) &&
                         models_of_repository(console, options.files[0]).empty();
  const std::unique_ptr<CheckReport> report =
      make_check_report(console, options.is_sarif, is_single, options.is_strict);
  Run run{options, console, *report, *parse_fail_on(options.fail_on), std::move(known)};
  for (const std::string& place : options.files) {
    check_place(run, place);
    if (stop_signal() != 0) break;
  }
  report->end();
  return finish_baselines(run);
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
  CLI::Option* fail_on =
      add_texts(command, "--fail-on", options->fail_on, "WHAT",
                "Exit with 1 on error, warning (errors, too) or security, several with commas "
                "between them; default: warning");
  fail_on->delimiter(',');
  note_words(*fail_on, {"error", "warning", "security"});
  add_texts(command, "--ignore", options->ignored, "RULE", "Leave out a rule")->delimiter(',');
  add_texts(command, "--only", options->only, "RULE", "Apply this rule alone, and others so named")
      ->delimiter(',');
  add_text(command, "--template", options->template_file, "FILE",
           "Compare the chat template with that of FILE, as its publisher has it");
  add_text(command, "--with", options->projector, "FILE",
           "A projector: check whether what it gives is what the model takes");
  add_text(command, "--baseline", options->baseline, "FILE",
           "Do not report the findings that FILE lists");
  add_text(command, "--write-baseline", options->new_baseline, "FILE",
           "List all findings in FILE, for --baseline; they are no reason to exit with 1");
  add_switch(command, "--force", options->may_replace, "Replace the baseline if it exists");
  add_number(command, "--limit", options->check.max_findings_per_rule, 0, 1'000'000'000,
             "Findings of one rule in one model, 0 for all; default: 20");
  add_switch(command, "--sarif", options->is_sarif,
             "Print a SARIF 2.1.0 document, for code-scanning platforms");
  add_switch(command, "--list-rules", options->lists_rules, "Print the rules instead");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
