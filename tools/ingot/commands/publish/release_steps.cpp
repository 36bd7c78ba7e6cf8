// SPDX-License-Identifier: MIT
#include "commands/publish/release_steps.hpp"

#include <fmt/core.h>
#include <ingot/version.h>

#include <algorithm>
#include <filesystem>
#include <ingot/output_file.hpp>
#include <ingot/recipe.hpp>
#include <ingot/text.hpp>
#include <initializer_list>
#include <utility>

#include "cli/json_stream.hpp"
#include "cli/model_files.hpp"
#include "commands/card/card_data.hpp"
#include "commands/card/card_page.hpp"
#include "commands/hash/hash_jobs.hpp"
#include "commands/hash/hash_report.hpp"
#include "commands/quantize/quantize_arguments.hpp"
#include "commands/quantize/quantize_run.hpp"
#include "text/report_file.hpp"

namespace ingot::cli {
namespace {

namespace fs = std::filesystem;

/// A file as an input: its path and its stamp.
std::string input_line(const std::string& path) { return path + " " + stamp_of(path) + "\n"; }

/// All files of the source, which its result depends on.
Result<std::string> source_lines(const ReleaseRecipe& recipe, Console& console) {
  std::string lines = "source " + recipe.source + "\n";
  if (is_folder(recipe.source)) {
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& file : fs::directory_iterator(recipe.source, error)) {
      // What a run writes is no input, and neither are other words about the same files.
      const bool is_own =
          is_same_file(file.path().generic_string(), recipe.path) ||
          is_same_file(file.path().generic_string(), ReleaseState::path_of(recipe.output));
      std::error_code ignored;
      if (!is_own && file.is_regular_file(ignored)) files.push_back(file.path().generic_string());
    }
    if (error) return fail(Errc::io_error, recipe.source, error.message());
    std::ranges::sort(files);
    for (const std::string& file : files) lines += input_line(file);
    return lines;
  }
  INGOT_TRY(const Model model, console.open_model(recipe.source));
  if (const auto remote = console.remote().opened_file(recipe.source)) {
    return lines + remote->file_name + " " + remote->commit + "\n";
  }
  for (const ModelFile& file : model.files()) lines += input_line(file.path);
  return lines;
}

/// The models of a release, each by its first file.
std::vector<std::string> models_of(const ReleaseState& state,
                                   const std::vector<std::string>& type_steps) {
  std::vector<std::string> models;
  for (const std::string& step : type_steps) {
    const std::vector<std::string> files = state.files_of(step);
    const auto first = std::ranges::find_if(files, is_model_name);
    if (first != files.end()) models.push_back(*first);
  }
  return models;
}

/// Writes a text file that replaces an older one at once.
Result<void> write_text(const std::string& path, const std::function<void(Output& out)>& print) {
  INGOT_TRY(OutputFile file, OutputFile::create(path, true));
  INGOT_TRY_VOID(print_to(file, print));
  return file.commit();
}

/// Quantizes to a type, or plans it.
ExitCode quantize(const ReleaseRecipe& recipe, const std::string& type, bool is_plan,
                  Console& console, PlannedFiles& made) {
  const std::string prefix = recipe.output + "/" + recipe.name + "-" + type;
  QuantizeRequest request;
  request.file = recipe.source;
  request.named_out = prefix + ".gguf";
  request.types = {type};
  request.imatrix_files = recipe.imatrix_files;
  request.report = prefix + ".html";
  request.limits = recipe.limits;
  request.is_forced = true;
  request.is_silent = true;
  request.is_plan = is_plan;
  const auto override_key = [&](const char* key, const std::string& value) {
    if (!value.empty()) request.overrides.push_back(fmt::format("{}=str:{}", key, value));
  };
  override_key("general.license", recipe.license);
  override_key("general.quantized_by", recipe.quantized_by);
  const ExitCode code = run_quantize(request, console);
  if (code != ExitCode::done) return code;
  for (const QuantizedShard& shard : request.written) made.paths.push_back(shard.path);
  made.paths.push_back(request.report);
  made.model_bytes = request.written_bytes;
  return ExitCode::done;
}

ExitCode write_card_file(const ReleaseRecipe& recipe, std::vector<std::string> models,
                         Console& console, std::vector<std::string>& files) {
  CardFacts facts;
  CardRequest request{.files = std::move(models),
                      .title = recipe.title,
                      .base_models = recipe.base_models,
                      .results = recipe.results};
  if (!recipe.results.empty() && stamp_of(recipe.results).empty()) {
    console.remark(recipe.results, "note: it is not there yet; the card has no divergences");
    request.results.clear();
  }
  const ExitCode code = gather_card(request, console, facts);
  if (code != ExitCode::done) return code;
  files = {recipe.output + "/README.md"};
  INGOT_CLI_TRY_VOID(write_text(files[0], [&](Output& out) { write_card(out, facts); }), console,
                     files[0]);
  return ExitCode::done;
}

ExitCode write_digests(const ReleaseRecipe& recipe, const std::vector<std::string>& models,
                       Console& console, std::vector<std::string>& files) {
  const std::string folder = recipe.output + "/";
  std::vector<HashJob> jobs;
  for (const std::string& model : models) {
    jobs.push_back({model, true, {}, std::nullopt, std::nullopt});
  }
  const ExitCode code = hash_all(jobs, console);
  if (code != ExitCode::done) return code;
  const auto hashed = [&](const HashJob& job) {
    return HashedModel{job.file, *job.model, *job.digests, folder};
  };
  files = {folder + "SHA256SUMS", folder + "manifest.json"};
  INGOT_CLI_TRY_VOID(write_text(files[0],
                                [&](Output& out) {
                                  for (const HashJob& job : jobs) {
                                    print_sha256sum(out, console, hashed(job));
                                  }
                                }),
                     console, files[0]);
  INGOT_CLI_TRY_VOID(write_text(files[1],
                                [&](Output& out) {
                                  JsonStream json(out);
                                  const auto array = json.array();
                                  for (const HashJob& job : jobs) {
                                    print_hash_json(json, hashed(job));
                                  }
                                }),
                     console, files[1]);
  return ExitCode::done;
}

}  // namespace

ExitCode make_steps(const ReleaseRecipe& recipe, const ReleaseState& state, Console& console,
                    std::vector<ReleaseStep>& steps) {
  std::vector<std::string> types;
  for (const std::string& word : recipe.types) {
    const auto type = parse_recipe(word);
    if (!type) return console.refuse(recipe.path, type.error());
    const std::string name((*type)->name);
    if (std::ranges::count(types, name) == 0) types.push_back(name);
  }
  INGOT_CLI_TRY(std::string common, source_lines(recipe, console), console, recipe.source);
  common += "ingot " INGOT_VERSION_STRING "\n";
  for (const std::string& file : recipe.imatrix_files) common += "imatrix " + input_line(file);
  common += fmt::format("name {}\nlicense {}\nquantized_by {}\nlimits {} {}\n", recipe.name,
                        recipe.license, recipe.quantized_by, recipe.limits.max_bytes,
                        recipe.limits.shard_count);
  for (const std::string& type : types) {
    steps.push_back({type, [common] { return common; },
                     [&recipe, &console, type](std::vector<std::string>& files) {
                       PlannedFiles made;
                       const ExitCode code = quantize(recipe, type, false, console, made);
                       files = std::move(made.paths);
                       return code;
                     },
                     [&recipe, &console, type](PlannedFiles& planned) {
                       return quantize(recipe, type, true, console, planned);
                     }});
  }
  const auto models = [&state, types] { return models_of(state, types); };
  const auto model_lines = [&state, types] {
    std::string lines = "ingot " INGOT_VERSION_STRING "\n";
    for (const std::string& type : types) {
      for (const std::string& file : state.files_of(type)) lines += input_line(file);
    }
    return lines;
  };
  const auto named = [&recipe](std::initializer_list<const char*> names) {
    return [&recipe,
            names = std::vector<std::string>(names.begin(), names.end())](PlannedFiles& planned) {
      for (const std::string& name : names) planned.paths.push_back(recipe.output + "/" + name);
      return ExitCode::done;
    };
  };
  steps.push_back({"README.md",
                   [&recipe, model_lines] {
                     std::string lines = model_lines() + "title " + recipe.title + "\n";
                     for (const auto& base : recipe.base_models) lines += "base " + base + "\n";
                     return lines + "results " + input_line(recipe.results);
                   },
                   [&recipe, &console, models](std::vector<std::string>& files) {
                     return write_card_file(recipe, models(), console, files);
                   },
                   named({"README.md"})});
  steps.push_back({"SHA256SUMS", model_lines,
                   [&recipe, &console, models](std::vector<std::string>& files) {
                     return write_digests(recipe, models(), console, files);
                   },
                   named({"SHA256SUMS", "manifest.json"})});
  return ExitCode::done;
}

}  // namespace ingot::cli
