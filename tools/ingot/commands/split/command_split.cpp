// SPDX-License-Identifier: MIT
// `ingot split IN PREFIX` -- one model, cut into shards.

#include <fmt/core.h>

#include <filesystem>
#include <ingot/shard_name.hpp>
#include <ingot/split.hpp>
#include <ingot/text.hpp>
#include <memory>

#include "cli/command.hpp"
#include "cli/imported_folder.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "commands/json_members.hpp"
#include "commands/output_name.hpp"
#include "text/byte_count.hpp"
#include "text/shard_part.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot split model.gguf model --max-size 2G\n"
    "  ingot split model.gguf parts/model --shards 4 --dry-run\n"
    "  ingot split old-00001-of-00009.gguf new --max-size 40GiB\n"
    "\n"
    "The files are called PREFIX-00001-of-00003.gguf; llama.cpp loads them by the\n"
    "first. A size counts the whole file, header and padding included; G is 10^9\n"
    "bytes, GiB 2^30. No file gets its name before all are complete. ingot merge\n"
    "makes one file again, the same to the byte; what cannot come back, such as gaps\n"
    "between tensors, is said.\n"
    "Exit status 2: no cut keeps the limit (a tensor is larger, say).";

struct Options {
  std::string file;
  std::string prefix;
  SplitLimits limits;
  bool is_forced = false;
  bool is_dry_run = false;
};

std::uint64_t bytes_of(const SplitPlan& plan) {
  std::uint64_t sum = 0;
  for (const PlannedShard& shard : plan.shards) sum += shard.file_bytes;
  return sum;
}

std::string path_of(const Options& options, const SplitPlan& plan, std::size_t index) {
  return shard_file_name(options.prefix, static_cast<std::uint32_t>(index),
                         static_cast<std::uint32_t>(plan.shards.size()));
}

void print_json(const Options& options, Console& console, const SplitPlan& plan,
                bool is_restorable) {
  JsonStream json(console.out());
  const auto object = json.object();
  json.member("file", options.file);
  json.member("written", !options.is_dry_run);
  json.member("tensors", static_cast<std::uint64_t>(plan.tensor_count));
  json.member("bytes", bytes_of(plan));
  json.member("restorable", is_restorable);
  json.objects("shards", plan.shards.size(), [&](std::size_t i) {
    json.member("file", path_of(options, plan, i));
    write_members(json, plan.shards[i]);
  });
}

void print_text(const Options& options, Console& console, const SplitPlan& plan) {
  const std::vector<Column> columns = {{"file", Align::left, Narrow::shorten},
                                       {"tensors", Align::right},
                                       {"size", Align::right},
                                       {"bytes", Align::right, Narrow::hide}};
  print_table(console, columns, plan.shards.size(),
              [&](std::size_t row, std::span<std::string> cells) {
                const PlannedShard& shard = plan.shards[row];
                cells[0] = path_of(options, plan, row);
                cells[1] = format_digits(shard.tensor_count);
                cells[2] = format_bytes(shard.file_bytes);
                cells[3] = format_digits(shard.file_bytes);
              });
  const std::string text = fmt::format("{}, {} tensors", counted(plan.shards.size(), "shard"),
                                       format_digits(plan.tensor_count));
  console.print_prose(
      options.is_dry_run
          ? text + ", " + format_bytes(bytes_of(plan)) + "; nothing was written"
          : written_text(path_of(options, plan, 0), format_bytes(bytes_of(plan)), text),
      Style::strong);
}

ExitCode fail(const Options& options, Console& console, const Error& error) {
  // An error of an output is reported for the output.
  const bool is_output =
      error.subject == options.prefix || error.subject.starts_with(options.prefix + "-0");
  return console.fail(is_output ? error.subject : options.file, error);
}

ExitCode run(Options& options, Console& console) {
  const std::string in = console.remote().local_name(options.file);
  std::filesystem::path name = std::filesystem::path(in).filename();
  if (name.empty()) name = std::filesystem::path(in).parent_path().filename();  // of a folder
  const bool is_unnamed = options.prefix.empty();                               // as a plan may be
  if (is_unnamed && !options.is_dry_run) {
    return console.refuse_usage(
        "split: PREFIX is missing; the usage is: ingot split [OPTIONS] IN PREFIX");
  }
  const std::string out = options.prefix;
  const std::filesystem::path begin = is_unnamed || is_output_folder(out)
                                          ? std::filesystem::path(out) / name
                                          : std::filesystem::path(out);
  options.prefix = prefix_of(begin.generic_string());
  const SplitLimits& limits = options.limits;
  if (limits.max_bytes == 0 && limits.max_tensors == 0 && limits.shard_count == 0) {
    return console.refuse_usage("split: give --max-size, --max-tensors or --shards");
  }
  std::unique_ptr<Import> import;
  INGOT_CLI_TRY(const Model model, open_model_or_folder(console, options.file, {}, import), console,
                options.file);
  if (model.files().size() < model.shard_count()) {
    return console.refuse(options.file, "shards are missing; fetch them first", ExitCode::refused);
  }
  const Result<SplitPlan> plan = plan_split(model, limits);
  if (!plan) return fail(options, console, plan.error());
  // A file of another format, or a folder, never comes back, which users expect.
  const bool is_made = import != nullptr || console.foreign() != nullptr;
  const Result<std::string> abnormal = is_made ? std::string() : describe_abnormal_form(model);
  if (!abnormal) return fail(options, console, abnormal.error());
  if (!abnormal->empty()) {
    console.remark(options.file, "note: it has " + *abnormal +
                                     "; merging the shards gives an equal model, not these bytes");
  }
  // write_shards knows the files of a GGUF model only.
  const auto count = static_cast<std::uint32_t>(plan->shards.size());
  for (std::uint32_t i = 0; i < count && console.foreign() != nullptr; ++i) {
    const std::string path = shard_file_name(options.prefix, i, count);
    if (!console.is_input(path)) continue;
    return fail(options, console, {Errc::same_file, Error::no_offset, path, {}});
  }
  if (!options.is_dry_run) {
    INGOT_CLI_TRY_VOID(make_output_folder(out), console, out);
    if (const auto ready = before_reading(console, options.file, model, import.get()); !ready) {
      return console.fail(options.file, ready.error());
    }
    const Result<void> written =
        run_with_progress(console, options.file, bytes_of(*plan), [&](const GoOn& go_on) {
          return write_shards(model, *plan, options.prefix,
                              {.may_replace = options.is_forced, .progress = go_on});
        });
    if (!written) return fail(options, console, written.error());
  }
  if (console.is_json()) {
    print_json(options, console, *plan, abnormal->empty());
  } else if (options.is_dry_run || !console.is_quiet()) {
    print_text(options, console, *plan);
  }
  return ExitCode::done;
}

}  // namespace

void add_split_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = add_command(program, "split", "Cut a model into shards", examples);
  require(add_argument(command, "IN", options->file,
                       "A GGUF file, any shard of a set, or a model folder of Hugging Face"));
  add_output(command, options->prefix, "PREFIX",
             "What the names of the shards begin with; in a folder, and for --dry-run without it, "
             "the name of IN");
  add_byte_count(command, "--max-size", options->limits.max_bytes, "Bytes of each file, at most");
  add_number(command, "--max-tensors", options->limits.max_tensors, 1, max_shard_count * 65536ull,
             "Tensors of each file, at most");
  add_number(command, "--shards", options->limits.shard_count, 1, max_shard_count,
             "Exactly N files, as equal in size as can be");
  add_switch(command, "--no-tensor-first-split", options->limits.is_first_without_tensors,
             "Put only the keys into the first file");
  add_switch(command, "--force", options->is_forced, "Replace shards that exist");
  add_switch(command, "--dry-run", options->is_dry_run, "Print what would be written, and stop");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
