// SPDX-License-Identifier: MIT
// `ingot publish RECIPE` -- a folder that is ready to upload.

#include <fmt/core.h>

#include <filesystem>
#include <ingot/digest.hpp>
#include <ingot/text.hpp>
#include <memory>
#include <optional>
#include <span>

#include "cli/command.hpp"
#include "cli/json_stream.hpp"
#include "cli/model_files.hpp"
#include "cli/table.hpp"
#include "commands/fit/engine_command.hpp"
#include "commands/output_name.hpp"
#include "commands/publish/release_recipe.hpp"
#include "commands/publish/release_state.hpp"
#include "commands/publish/release_steps.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot publish release.yaml\n"
    "  ingot publish release.yaml --dry-run              # what is to do, and why\n"
    "\n"
    "The recipe is YAML; paths in it are relative to its folder:\n"
    "  source: model-F16.gguf     # or a model folder, or hf:ORG/REPO\n"
    "  types: [Q4_K_M, Q8_0]\n"
    "  output: model-GGUF\n"
    "  license: apache-2.0        # these and more, as in docs/publish.md\n"
    "  imatrix: imatrix.gguf\n"
    "  max_shard_size: 5G\n"
    "\n"
    "The folder gets a model and a report for each type, README.md, SHA256SUMS and\n"
    "manifest.json. Each step runs only if its inputs changed or its files are not\n"
    "what it made; a run that was stopped goes on where it ended. Nothing is sent\n"
    "anywhere: the last line is the command that uploads the folder.";

struct Options {
  std::string recipe;
  bool is_forced = false;
  bool is_dry_run = false;
};

/// What became of a step, or will.
struct Outcome {
  std::string step;
  std::string reason;                   ///< Why it ran, or has to; empty: it is as it was.
  std::vector<std::string> files = {};  ///< That it has made, or will.
  std::optional<std::uint64_t> planned_bytes = {};  ///< The size of models that it will make.
};

std::string digest_of_text(const std::string& text) {
  return digest_of(DigestAlgorithm::sha256, std::as_bytes(std::span(text)));
}

/// The name as a hub takes it: letters, digits and "_" with single "-" or "." between them.
std::string hub_name(std::string_view name) {
  std::string parts;
  for (const char c : name) {
    const bool is_inner =
        c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool is_after_inner = !parts.empty() && parts.back() != '-' && parts.back() != '.';
    if (is_inner) parts += c;
    if (!is_inner && is_after_inner) parts += c == '.' ? '.' : '-';
  }
  while (parts.ends_with('-') || parts.ends_with('.')) parts.pop_back();
  return parts.empty() ? "NAME" : parts;
}

std::string upload_command(const ReleaseRecipe& recipe) {
  const std::string repository =
      recipe.repository.empty() ? "ORG/" + hub_name(recipe.name) + "-GGUF" : recipe.repository;
  return "hf upload " + shell_word(repository) + " " + shell_word(recipe.output) + " .";
}

/// "a, b", or of many "a and 4 more".
std::string files_text(const std::vector<std::string>& names) {
  if (names.size() <= 2) return names.empty() ? "-" : escape(joined(names, ", "));
  return fmt::format("{} and {} more", escape(names.front()), names.size() - 1);
}

std::vector<std::string> names_of_files(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) names.push_back(name_of_file(path));
  return names;
}

void print_outcomes(Console& console, const Options& options, const ReleaseRecipe& recipe,
                    const std::vector<Outcome>& outcomes, const std::vector<std::string>& others) {
  if (!others.empty()) {
    console.complain(recipe.output,
                     "warning: these are not of this recipe; remove them, or they are uploaded, "
                     "too: " +
                         escape(joined(others, ", ")));
  }
  if (console.is_json()) {
    JsonStream json(console.out());
    const auto object = json.object();
    json.member("folder", recipe.output);
    json.member("written", !options.is_dry_run);
    json.objects("steps", outcomes, [&](const Outcome& outcome) {
      json.member("step", outcome.step);
      json.text_or_null("reason", outcome.reason);
      json.values("files", names_of_files(outcome.files));
      if (options.is_dry_run) json.member("size_bytes", outcome.planned_bytes);
    });
    json.values("others", others);
    json.member("upload", upload_command(recipe));
    return;
  }
  if (console.is_quiet() && !options.is_dry_run) return;
  std::vector<Column> columns = {{"step"}, {options.is_dry_run ? "to do" : "done"}, {"files"}};
  if (options.is_dry_run) columns.push_back({"model", Align::right});
  std::uint64_t all_bytes = 0;
  print_table(console, columns, outcomes.size(),
              [&](std::size_t row, std::span<std::string> cells) {
                const Outcome& outcome = outcomes[row];
                cells[0] = outcome.step;
                cells[1] = outcome.reason.empty() ? "-" : outcome.reason;
                cells[2] = files_text(names_of_files(outcome.files));
                if (!options.is_dry_run) return;
                cells[3] = outcome.planned_bytes ? format_bytes(*outcome.planned_bytes) : "-";
              });
  for (const Outcome& outcome : outcomes) all_bytes += outcome.planned_bytes.value_or(0);
  const std::string_view state =
      others.empty() ? "is complete" : "has all of the recipe, and other files";
  console.out().print(
      "\n{}\n",
      options.is_dry_run
          ? fmt::format("Nothing was written{}. Afterwards, to upload:",
                        all_bytes == 0 ? "" : "; the models will take " + format_bytes(all_bytes))
          : fmt::format("{} {}. To upload it:", escape(recipe.output), state));
  console.out().print("  {}\n", upload_command(recipe));
}

/// Whether the folder may be filled: it is new, empty, or was begun by this command.
ExitCode check_folder(const Options& options, const ReleaseRecipe& recipe,
                      const ReleaseState& state, Console& console) {
  std::error_code error;
  if (state.is_begun() || options.is_forced || !std::filesystem::exists(recipe.output, error)) {
    return ExitCode::done;
  }
  if (is_folder(recipe.output) && std::filesystem::is_empty(recipe.output, error)) {
    return ExitCode::done;
  }
  return console.refuse(recipe.output,
                        "there are other files; name a new folder, or add to them with --force");
}

ExitCode run(const Options& options, Console& console) {
  ReleaseRecipe recipe;
  ExitCode code = read_recipe(options.recipe, console, recipe);
  if (code != ExitCode::done) return code;
  INGOT_CLI_TRY(ReleaseState state, ReleaseState::read(recipe.output), console, recipe.output);
  code = check_folder(options, recipe, state, console);
  if (code != ExitCode::done) return code;
  std::vector<ReleaseStep> steps;
  code = make_steps(recipe, state, console, steps);
  if (code != ExitCode::done) return code;
  if (!options.is_dry_run) {
    INGOT_CLI_TRY_VOID(make_output_folder(recipe.output + "/"), console, recipe.output);
    std::vector<std::string> names;
    for (const ReleaseStep& step : steps) names.push_back(step.name);
    INGOT_CLI_TRY_VOID(state.keep_only(names), console, recipe.output);
    INGOT_CLI_TRY_VOID(state.write(), console, recipe.output);
  }
  std::vector<Outcome> outcomes;
  bool is_changed = false;
  for (const ReleaseStep& step : steps) {
    const std::string inputs = digest_of_text(step.inputs());
    Outcome outcome{step.name, state.reason_to_run(step.name, inputs)};
    // The last steps depend on all others, which a dry run does not do.
    const bool is_last = &step >= &steps[steps.size() - 2];
    if (options.is_dry_run && is_last && is_changed && outcome.reason.empty()) {
      outcome.reason = "its inputs change";
    }
    is_changed = is_changed || !outcome.reason.empty();
    if (!outcome.reason.empty() && !options.is_dry_run) {
      std::vector<std::string> files;
      code = step.run(files);
      if (code != ExitCode::done) return code;
      INGOT_CLI_TRY_VOID(state.record(step.name, inputs, files), console, recipe.output);
    }
    outcome.files = state.files_of(step.name);
    if (options.is_dry_run && !outcome.reason.empty()) {
      PlannedFiles planned;
      code = step.plan(planned);
      if (code != ExitCode::done) return code;
      outcome.files = std::move(planned.paths);
      outcome.planned_bytes = planned.model_bytes;
    }
    outcomes.push_back(std::move(outcome));
  }
  print_outcomes(console, options, recipe, outcomes, state.other_files(recipe.output));
  return ExitCode::done;
}

}  // namespace

void add_publish_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = add_command(
      program, "publish", "Make a folder of models that is ready to upload, by a recipe", examples);
  require(add_argument(command, "RECIPE", options->recipe,
                       "A file of YAML, or a folder with one, named release.yaml"));
  add_switch(command, "--dry-run", options->is_dry_run, "Print what would be done; write nothing");
  add_switch(command, "--force", options->is_forced, "Add to a folder with other files");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
