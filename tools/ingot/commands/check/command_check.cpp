// SPDX-License-Identifier: MIT
// `ingot check FILE...` -- what is wrong or odd about models.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ingot/check.hpp>
#include <ingot/text.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"
#include "cli/console.hpp"
#include "cli/declaration.hpp"
#include "cli/interrupt.hpp"
#include "cli/model_files.hpp"
#include "commands/check/check_baseline.hpp"
#include "commands/check/check_report.hpp"
#include "commands/check/check_run.hpp"
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
    "  ingot check $FILES --json | jq '[.] | flatten[]'   # one file or several\n"
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
    "docs/check-rules.md. Files are read, not mapped, unless --io mmap is given; with\n"
    "--data a pipe is copied to a file without a name in $TMPDIR, and checked there.\n"
    "Exit status 1: a model has errors or warnings (with --strict: notes, or one was\n"
    "skipped), or what --fail-on names; 2: in a folder, nothing was checked;\n"
    "3: a model is refused, no loader should touch it, whatever rules are chosen.";

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

std::string usage_problem(const CheckArguments& options, bool is_json) {
  if (options.is_sarif && is_json) return "--sarif and --json are two formats; give one of them";
  if (options.files.empty() && !options.lists_rules) {
    return "FILE is missing; the usage is: ingot check [OPTIONS] FILE...";
  }
  if (!parse_fail_on(options.fail_on)) {
    return "--fail-on takes error, warning and security, several with commas between them";
  }
  if (options.seconds && !options.check.with_data) return "--time-limit goes with --data";
  return options.rules.problem(options.check.with_data);
}

/// Ends a run: what is known and did not come, and the new baseline.
ExitCode finish_baselines(const CheckRun& run) {
  const CheckArguments& options = run.options;
  if (const std::size_t unmet = run.known.unmet_count(); unmet != 0) {
    run.console.remark(options.baseline, fmt::format("{} known finding{} not found any more", unmet,
                                                     unmet == 1 ? " was" : "s were"));
  }
  if (options.new_baseline.empty() || stop_signal() != 0) return run.code;
  const Result<void> written = run.found.write(options.new_baseline, options.may_replace);
  if (written) return run.code;
  return std::max(run.code, run.console.fail(options.new_baseline, written.error()));
}

ExitCode run(CheckArguments& options, Console& console) {
  const std::string problem = usage_problem(options, console.is_json());
  if (!problem.empty()) return console.refuse_usage("check: " + problem);
  if (options.lists_rules) {
    list_check_rules(console);
    return ExitCode::done;
  }
  if (!options.rules.ignored.empty() || !options.rules.only.empty()) {
    options.check.is_wanted = [&](const CheckRule& rule) { return options.rules.wants(rule); };
  }
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
  CheckRun run{options, console, *report, *parse_fail_on(options.fail_on), std::move(known)};
  for (const std::string& place : options.files) {
    check_place(run, place);
    if (stop_signal() != 0) break;
  }
  check_waiting(run);
  report->end();
  return finish_baselines(run);
}

}  // namespace

void add_check_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<CheckArguments>();
  CLI::App& command =
      add_command(program, "check", "Find what is wrong or odd about models", examples);
  add_argument(command, "FILE", options->files,
               "GGUF files or folders; any shard names its set, - is standard input");
  add_switch(command, "--data", options->check.with_data,
             "Read all weights too: NaN, infinities, impossible scales");
  add_number(command, "--time-limit", options->seconds, 0, 1'000'000'000,
             "With --data: seconds for the weights of a model; what takes longer has failed, with "
             "status 4 and the findings that need no weights");
  add_switch(command, "--strict", options->is_strict, "Notes count as warnings");
  CLI::Option* fail_on =
      add_list(command, "--fail-on", options->fail_on, "WHAT",
               "Exit with 1 on error, warning (errors, too) or security, several with commas "
               "between them; default: warning");
  note_words(*fail_on, {"error", "warning", "security"});
  add_rule_options(command, options->rules);
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
