// SPDX-License-Identifier: MIT
// `ingot plan-work --jobs N -- COMMAND...` -- a command, cut into tasks for many machines.

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <ingot/digest.hpp>
#include <ingot/shard_name.hpp>
#include <ingot/text.hpp>
#include <memory>
#include <set>
#include <span>
#include <system_error>

#include "cli/command.hpp"
#include "cli/json_stream.hpp"
#include "commands/plan_work/cut_work.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot plan-work --jobs 4 -- quantize m-F16.gguf --to Q8_0 --to Q6_K \\\n"
    "      --to Q4_K_M --to Q4_K_S --to-dir out > work.json\n"
    "  ingot plan-work --jobs 8 -- quantize m-F16.gguf m-Q4_K_M.gguf Q4_K_M > work.json\n"
    "  ingot plan-work --jobs 16 -- hash models/*.gguf --as sha256sum > work.json\n"
    "  ingot plan-work --jobs 16 -- check --data models/ > work.json\n"
    "  ingot plan-work --jobs 8 -- convert in/* 'out/{name}.gguf' > work.json\n"
    "  ingot plan-work --jobs 8 -- evaluate F16.gguf Q4_K_M.gguf --text t.txt > work.json\n"
    "  ingot plan-work --jobs 8 -- imatrix collect F16.gguf --text t.txt -o im.gguf \\\n"
    "      > work.json\n"
    "  ingot plan-work --jobs 8 -- sensitivity F16.gguf --text t.txt -o s.json > work.json\n"
    "  ingot run-work work.json --task 3\n"
    "\n"
    "Nothing runs yet. Tasks are commands of this program that may run in any order, on\n"
    "any machine that has the same files under the same names, and again after they\n"
    "were killed; `ingot run-work` runs them and joins their results. docs/fleet.md has\n"
    "the files for Slurm, GNU parallel, Snakemake and Dask.";

struct Options {
  std::vector<std::string> words;
  std::uint64_t jobs = 0;
  std::string folder;
};

/// A name for the folder of a plan that was given none, so that two plans do not share their notes.
std::string folder_of(const Options& options, const CommandLine& line) {
  std::string text = fmt::format("{}", options.jobs);
  const auto add = [&](std::string_view word) { text.append(1, '\0').append(word); };
  for (const std::string& word : options.words) add(word);
  for (const WorkInput& input : inputs_of(line, line.arguments())) add(input.state);
  const std::string digest = digest_of(DigestAlgorithm::xxh3_128, std::as_bytes(std::span(text)));
  return "work-" + digest.substr(digest.find(':') + 1, 8);
}

/// What stands in the way of the outputs; empty if nothing does.
std::string problem_of_outputs(const WorkPlan& plan, bool may_replace) {
  std::set<std::string> outputs;
  std::error_code ignored;
  // Parts of a result may be there from an earlier run, and are made again.
  const bool has_parts = !plan.join.words.empty();
  const auto check = [&](const WorkTask& task) -> std::string {
    const bool is_part = &task != &plan.join && (has_parts || task.is_printed);
    for (const std::string& out : task.outputs) {
      const std::string name = std::filesystem::path(out).lexically_normal().generic_string();
      if (!outputs.insert(name).second) return "two results would be \"" + escape(out) + "\"";
      if (!may_replace && !is_part && std::filesystem::exists(out, ignored)) {
        return "\"" + escape(out) + "\" exists; --force behind the command replaces it";
      }
    }
    return {};
  };
  for (const WorkTask& task : plan.tasks) {
    if (std::string problem = check(task); !problem.empty()) return problem;
  }
  return check(plan.join);
}

ExitCode run(const Options& options, Console& console) {
  const std::string name = options.words.empty() ? std::string() : options.words[0];
  const WorkCommand* command = find_work_command(name);
  if (command == nullptr || command->cut == nullptr) {
    return console.refuse_usage("plan-work: behind -- stands one of " + list_work_commands());
  }
  const auto line = CommandLine::read(*command, std::span(options.words).subspan(1), console);
  if (!line) return console.refuse_usage("plan-work: " + line.error());
  for (const std::string& word : options.words) {
    if (!console.remote().has_secret(word)) continue;
    return console.refuse(word, "a plan has no place for a password or a signature");
  }
  WorkPlan plan{.folder = options.folder.empty() ? folder_of(options, *line) : options.folder};
  while (plan.folder.size() > 1 && plan.folder.ends_with('/')) plan.folder.pop_back();
  Cutting cutting{*line, options.jobs, console, plan};
  const ExitCode code = command->cut(cutting);
  if (code != ExitCode::done) return code;
  // A quantization goes on with what is there, and refuses what is another file.
  const bool may_replace = line->has("--force") || line->has("--to-dir");
  const std::string problem = problem_of_outputs(plan, may_replace);
  if (!problem.empty()) return console.refuse_usage("plan-work: " + problem);
  JsonStream json(console.out());
  write_work_plan(json, plan);
  return ExitCode::done;
}

}  // namespace

void add_plan_work_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = add_command(
      program, "plan-work", "Cut a command into tasks that many machines can share", examples);
  require(
      add_argument(command, "WORD", options->words, "The command and its arguments, behind --"));
  require(add_number(command, "--jobs", options->jobs, 1, max_shard_count,
                     "About how many tasks; fewer where there is less to share, and at least one "
                     "for each IN"));
  add_text(command, "--parts", options->folder, "DIR",
           "Where tasks leave what the join needs; default: work- and a digest of WORDs");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
