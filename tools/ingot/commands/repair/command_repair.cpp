// SPDX-License-Identifier: MIT
// `ingot repair FILE -o OUT` -- repairs a model into a new file.

#include <fmt/core.h>

#include <ingot/check.hpp>
#include <ingot/repair.hpp>
#include <ingot/text.hpp>
#include <memory>

#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/model_files.hpp"
#include "cli/progress.hpp"
#include "cli/remote/stored_file.hpp"
#include "commands/json_members.hpp"
#include "commands/output_name.hpp"

namespace ingot::cli {

template <>
inline constexpr bool is_json_row<RepairStep> = true;

namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot repair model.gguf -o repaired.gguf\n"
    "  ingot repair model.gguf --dry-run\n"
    "  ingot repair download.gguf -o rest.gguf --drop-broken\n"
    "\n"
    "Repaired are: padding, gaps and order of data, what follows the last tensor, the\n"
    "alignment, trailing NULs, the old magic, split.* keys, a missing quantization\n"
    "version, a file type that is a lie. Tensors that are cut off, broken or named\n"
    "with more than 64 bytes are left out only with --drop-broken; no name is cut,\n"
    "but 'ingot --lenient edit' can change it. What 'ingot check' finds beyond needs\n"
    "'ingot edit' or the original model.\n"
    "Exit status 1: nothing needs repair, and nothing was written.";

struct Options {
  std::string file;
  std::string out;
  RepairOptions repair;
};

void print_text(Console& console, const Options& options, const RepairReport& report) {
  for (const RepairStep& step : report.steps) {
    const std::string& subject = step.key.empty() ? step.tensor : step.key;
    console.out().print("{}{}{}\n", subject.empty() ? "" : "\"" + escape(subject) + "\"",
                        subject.empty() ? "" : ": ", step.what);
  }
  if (report.steps.empty()) console.remark(options.file, "nothing needs repair");
  if (report.dropped_tensors != 0) {
    console.remark(options.file,
                   fmt::format("{} of {} tensors are left out", report.dropped_tensors,
                               report.dropped_tensors + report.kept_tensors));
  }
}

void print_json(Console& console, const Options& options, const RepairReport& report) {
  JsonStream json(console.out());
  const auto object = json.object();
  json.member("file", options.file);
  json.text_or_null("output", report.is_written ? options.out : std::string());
  write_members(json, report);
}

ExitCode fail(Console& console, const Options& options, const Error& error) {
  return console.fail(error.code == Errc::already_exists ? options.out : options.file, error);
}

ExitCode refuse_losses(Console& console, const Options& options, const RepairReport& report) {
  const RepairStep& first = report.losses.front();
  return console.refuse(
      options.file,
      fmt::format("{}{}{}; {} of {} tensors would be left out; --drop-broken allows it",
                  first.tensor.empty() ? "" : "\"" + escape(first.tensor) + "\"",
                  first.tensor.empty() ? "" : ": ", first.what, report.lost_tensors,
                  report.lost_tensors + report.kept_tensors),
      ExitCode::refused);
}

ExitCode run(Options& options, Console& console) {
  if (options.out.empty() != options.repair.is_dry_run) {
    return console.refuse_usage("repair: give -o OUT, or --dry-run");
  }
  if (options.file == "-") {
    return console.refuse_usage("repair: FILE must be a file, not standard input");
  }
  INGOT_CLI_TRY(const std::string path, find_here(console, options.file), console, options.file);
  INGOT_CLI_TRY_VOID(
      resolve_output(options.out, copy_name(console.remote().local_name(options.file))), console,
      options.out);
  const OrderlyStop orderly_stop;
  Progress progress(console, options.file, model_bytes(path));
  options.repair.thread_count = console.threads();
  options.repair.progress = progress.go_on();
  const Result<RepairReport> report = repair_model(path, options.out, options.repair);
  if (!report) return fail(console, options, report.error());
  if (!report->losses.empty()) return refuse_losses(console, options, *report);
  console.is_json() ? print_json(console, options, *report) : print_text(console, options, *report);
  if (report->is_written) remark_written(console, options.out);
  return report->steps.empty() ? ExitCode::negative : ExitCode::done;
}

}  // namespace

void add_repair_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = add_command(program, "repair",
                                  "Repair a model, as far as possible, into a new file", examples);
  require(add_argument(command, "FILE", options->file, "A GGUF file, or any shard of a set"));
  add_text(command, "-o,--output", options->out, "OUT", "The file to write");
  add_switch(command, "--drop-broken", options->repair.drops_broken,
             "Leave out tensors that are cut off, unknown or not finite");
  add_switch(command, "--dry-run", options->repair.is_dry_run, "Only print what would be done");
  add_switch(command, "--force", options->repair.may_replace, "Replace OUT if it exists");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
