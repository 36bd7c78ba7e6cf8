// SPDX-License-Identifier: MIT
#include "commands/plan_work/cut_work.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ingot/recipe.hpp>
#include <ingot/shard_name.hpp>
#include <ingot/text.hpp>
#include <set>
#include <utility>

#include "cli/model_files.hpp"
#include "commands/output_name.hpp"
#include "commands/quantize/quantize_arguments.hpp"
#include "text/shard_part.hpp"

namespace ingot::cli {
namespace {

using Words = std::vector<std::string>;

/// What reading a header costs beside reading a file, bytes.
constexpr std::uint64_t header_bytes = std::uint64_t{1} << 20;

/// Refuses options that a plan has no place for.
ExitCode refuse_options(Cutting& cutting, std::initializer_list<std::string_view> options) {
  for (const std::string_view option : options) {
    if (!cutting.line.has(option)) continue;
    return cutting.console.refuse_usage(
        fmt::format("plan-work: a plan has no place for {}", option));
  }
  return ExitCode::done;
}

/// The files to check or hash, each once: a folder stands for the models below it, and the first
/// shard that is named for its set, where the command takes it so.
Words files_of(Cutting& cutting, bool has_folders) {
  Words files;
  std::set<std::string> sets;
  for (const std::string& place : cutting.line.arguments()) {
    if (has_folders && is_folder(place)) {
      for_each_model(
          cutting.console, place,
          [&](const std::string& file) {
            files.push_back(file);
            return true;
          },
          [&](const std::string& file, const std::string& reason) {
            cutting.console.remark(file, "skipped: " + reason);
          });
      continue;
    }
    const auto shard = parse_shard_name(place);
    const bool is_new = has_folders || !shard ||
                        sets.insert(fmt::format("{} {}", shard->prefix, shard->count)).second;
    if (is_new) files.push_back(place);
  }
  return files;
}

/// Tasks of files that print something about each: runs of about as many bytes.
ExitCode cut_files(Cutting& cutting, bool is_check) {
  const CommandLine& line = cutting.line;
  const ExitCode code =
      refuse_options(cutting, {"--output", "--verify", "--write-baseline", "--sarif", "--force"});
  if (code != ExitCode::done) return code;
  const Words files = files_of(cutting, is_check);
  if (files.empty() || std::ranges::find(files, "-") != files.end()) {
    return cutting.console.refuse_usage("plan-work: it needs FILEs, which all tasks can read");
  }
  const bool is_json = is_check || line.has("--json") || line.value("--as") == "json";
  cutting.plan.is_list = is_json && (files.size() > 1 || is_folder(line.arguments()[0]));
  const Words more = is_check && !line.has("--json") ? Words{"--json"} : Words{};
  std::vector<std::uint64_t> ends;
  std::uint64_t total = 0;
  for (const std::string& file : files) ends.push_back(total += model_bytes(file) + header_bytes);
  Words run;
  const auto end_task = [&] {
    if (run.empty()) return;
    const std::string out =
        fmt::format("{}/{}.out", cutting.plan.folder, cutting.plan.tasks.size() + 1);
    cutting.plan.tasks.push_back({line.with(run, {}, more), inputs_of(line, run), {out}, true});
    run.clear();
  };
  std::uint64_t last_job = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::uint64_t begin = i == 0 ? 0 : ends[i - 1];
    const auto share = static_cast<double>(begin + ends[i]) / 2.0 / static_cast<double>(total);
    const auto job = static_cast<std::uint64_t>(share * static_cast<double>(cutting.jobs));
    if (job != last_job) end_task();
    last_job = job;
    run.push_back(files[i]);
  }
  end_task();
  return ExitCode::done;
}

/// One result, which is made shard by shard and merged.
ExitCode cut_quantize_to_shards(Cutting& cutting) {
  const CommandLine& line = cutting.line;
  const Words& given = line.arguments();
  if (given.size() != 3 || line.has("--output") || find_recipe(given[2]) == nullptr) {
    return cutting.console.refuse_usage(
        "plan-work: quantize needs IN... --to TYPE... --to-dir FOLDER, or IN OUT TYPE");
  }
  const std::string name = cutting.plan.folder + "/" + name_of_file(prefix_of(given[1]));
  INGOT_CLI_TRY(const Model model, cutting.console.open_model(given[0]), cutting.console, given[0]);
  // Each shard has a tensor.
  const auto count = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(model.tensors().size(), 1, cutting.jobs));
  const std::vector<WorkInput> inputs = inputs_of(line, {given[0]});
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string shard = shard_file_name(name, i, count);
    cutting.plan.tasks.push_back(
        {line.with({given[0], name + ".gguf", given[2]}, {"--force"},
                   {"--shard", fmt::format("{}/{}", i + 1, count), "--force"}),
         inputs,
         {shard}});
  }
  const std::string& first = cutting.plan.tasks[0].outputs[0];
  cutting.plan.join = {{"merge", first, given[1], "--force"}, {}, {given[1]}};
  return ExitCode::done;
}

}  // namespace

ExitCode cut_check(Cutting& cutting) { return cut_files(cutting, true); }
ExitCode cut_hash(Cutting& cutting) { return cut_files(cutting, false); }

/// A task for each IN; OUT is a pattern.
ExitCode cut_convert(Cutting& cutting) {
  const CommandLine& line = cutting.line;
  const ExitCode code = refuse_options(cutting, {"--max-size", "--dry-run", "--with-mmproj",
                                                 "--config-out", "--manifest-out", "--shard"});
  if (code != ExitCode::done) return code;
  Words files = line.arguments();
  std::string out = line.value("--output");
  if (out.empty() && !files.empty()) {
    out = files.back();
    files.pop_back();
  }
  if (files.empty()) return cutting.console.refuse_usage("plan-work: convert needs IN... OUT");
  const bool is_pattern = out.find("{name}") != std::string::npos;
  if (is_output_folder(out) || out.find("{type}") != std::string::npos ||
      (files.size() > 1 && !is_pattern)) {
    return cutting.console.refuse_usage(
        "plan-work: OUT must be one file for one IN, and for several a pattern with {name} alone, "
        "such as 'out/{name}.gguf'");
  }
  for (const std::string& file : files) {
    const std::string result =
        output_path(out, base_name(cutting.console.remote().local_name(file)), {});
    cutting.plan.tasks.push_back({line.with({file, result}, {"--output", "--force"}, {"--force"}),
                                  inputs_of(line, {file}),
                                  {result}});
  }
  return ExitCode::done;
}

/// Several results of one or several models; those of a task are made from one reading.
ExitCode cut_quantize(Cutting& cutting) {
  const CommandLine& line = cutting.line;
  const ExitCode code =
      refuse_options(cutting, {"--dry-run", "--report", "--target-bpw", "--target-size", "--shard",
                               "--shards", "--max-size", "--keep-split"});
  if (code != ExitCode::done) return code;
  const Words types = line.values("--to");
  std::string folder = line.value("--to-dir");
  if (types.empty() && folder.empty()) return cut_quantize_to_shards(cutting);
  const Words& files = line.arguments();
  if (types.empty() || folder.empty() || files.empty()) {
    return cutting.console.refuse_usage(
        "plan-work: IN, --to TYPE and --to-dir FOLDER belong together");
  }
  if (!folder.ends_with('/')) folder += '/';
  const std::size_t groups = std::clamp<std::size_t>(cutting.jobs / files.size(), 1, types.size());
  for (const std::string& file : files) {
    const std::vector<WorkInput> inputs = inputs_of(line, {file});
    for (std::size_t group = 0; group < groups; ++group) {
      Words more;
      WorkTask task;
      const std::size_t end = share_begin(types.size(), group + 1, groups);
      for (std::size_t i = share_begin(types.size(), group, groups); i < end; ++i) {
        const auto recipe = parse_recipe(types[i]);
        if (!recipe) return cutting.console.refuse_usage("plan-work: " + recipe.error());
        more.insert(more.end(), {"--to", types[i]});
        task.outputs.push_back(output_path(folder + "{name}-{type}.gguf",
                                           base_name(cutting.console.remote().local_name(file)),
                                           std::string((*recipe)->name)));
      }
      more.insert(more.end(), {"--to-dir", folder, "--resume"});
      task.words = line.with({file}, {"--to", "--to-dir", "--resume"}, more);
      task.inputs = inputs;
      cutting.plan.tasks.push_back(std::move(task));
    }
  }
  return ExitCode::done;
}

std::vector<WorkInput> inputs_of(const CommandLine& line, std::vector<std::string> paths) {
  for (const std::string_view option :
       {"--base", "--baseline", "--imatrix", "--metadata", "--sensitivity", "--target-model-dir",
        "--template", "--tensor-type-file", "--text", "--with"}) {
    for (std::string& file : line.values(option)) paths.push_back(std::move(file));
  }
  std::vector<WorkInput> inputs;
  for (const std::string& path : paths) {
    std::string state = state_of_input(path);
    if (!state.empty()) inputs.push_back({path, std::move(state)});
  }
  return inputs;
}

}  // namespace ingot::cli
