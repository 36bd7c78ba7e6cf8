// SPDX-License-Identifier: MIT
#include "commands/quantize/quantize_targets.hpp"

#include <algorithm>
#include <filesystem>
#include <ingot/recipe.hpp>
#include <ingot/text.hpp>
#include <system_error>
#include <utility>

#include "cli/model_files.hpp"
#include "commands/output_name.hpp"
#include "commands/quantize/quantize_arguments.hpp"

namespace ingot::cli {
namespace {

/// Whether the word after IN is a TYPE and OUT is left out: a file of that name is an OUT.
bool is_type(const std::string& word) {
  std::error_code error;
  return find_recipe(word) != nullptr && !std::filesystem::exists(word, error);
}

/// The only word after IN is no TYPE: a misspelt one, or an OUT.
std::string missing_type(const std::string& out) {
  const std::string hint = out.find('.') == std::string::npos ? hint_recipe(out) : std::string();
  if (!hint.empty()) return "there is no TYPE \"" + escape(out) + "\"" + hint;
  return "TYPE is missing; for example: ingot quantize IN OUT Q4_K_M";
}

/// The fault of the arguments of a target; empty if there is none.
std::string problem_of_target(const QuantizeRequest& options) {
  if (!options.target_bits.empty() && !options.target_size.empty()) {
    return "--target-bpw and --target-size are two targets; give one";
  }
  if (!options.types.empty()) return "with a target types are chosen; leave TYPE out";
  if (options.settings.types.is_pure)
    return "--pure is one type for all, a target chooses many; give one";
  return {};
}

}  // namespace

bool has_target(const QuantizeRequest& options) {
  return !options.target_bits.empty() || !options.target_size.empty();
}

std::string resolve_arguments(QuantizeRequest& options, std::string in,
                              std::vector<QuantizeTarget>& targets) {
  if (!options.to_dir.empty()) {
    if (!options.named_out.empty()) return "--to-dir and -o are the same output; give one of them";
    options.named_out = options.to_dir + (options.to_dir.ends_with('/') ? "" : "/");
  }
  options.types.insert(options.types.end(), options.to.begin(), options.to.end());
  const bool has_first_type = options.named_out.empty() &&
                              (is_type(options.out) || (options.is_plan && options.types.empty()));
  if (!options.out.empty() && (has_first_type || !options.named_out.empty())) {
    options.types.insert(options.types.begin(), std::exchange(options.out, {}));
  }
  if (!options.named_out.empty()) options.out = options.named_out;
  const std::string name = base_name(in);
  if (has_target(options)) {
    const std::string problem = problem_of_target(options);
    if (!problem.empty()) return problem;
    const std::string target =
        options.target_bits.empty() ? options.target_size : options.target_bits + "bpw";
    targets.push_back({output_path(options.out, name, target), {}});
  }
  // Beside a file; what is made of a folder is no part of where that lies.
  const std::filesystem::path folder = is_folder(in) ? "" : std::filesystem::path(in).parent_path();
  const std::string beside = (folder / "{name}-{type}.gguf").generic_string();
  for (const std::string& word : has_target(options) ? std::vector<std::string>() : options.types) {
    const Recipe* recipe = find_recipe(word);
    if (recipe == nullptr && is_model_name(word) && is_same_file(word, word)) {
      return "\"" + escape(word) +
             "\" is a second IN, and each run takes one: for f in *.gguf; do ingot quantize \"$f\" "
             "TYPE -o FOLDER/; done";
    }
    const std::string type = recipe == nullptr ? word : std::string(recipe->name);
    const std::string path = output_path(options.out.empty() ? beside : options.out, name, type);
    if (std::ranges::find(targets, type, &QuantizeTarget::type) != targets.end()) continue;
    if (std::ranges::find(targets, path, &QuantizeTarget::out) != targets.end()) {
      return "there is one OUT, \"" + escape(options.out) +
             "\", for several types; give a folder, or a pattern with {type}";
    }
    targets.push_back({path, type});
  }
  if (targets.empty() || (targets[0].type.empty() && !has_target(options))) {
    return missing_type(options.out);
  }
  if (targets[0].out.empty() && !options.is_plan) {
    return "OUT is missing; for example: ingot quantize IN OUT Q4_K_M";
  }
  if (targets.size() > 1 && !options.report.empty()) {
    return "--report is about one result; give one TYPE";
  }
  if (!options.sensitivity.empty() && !has_target(options)) {
    return "--sensitivity goes with --target-bpw or --target-size";
  }
  if (options.has_no_feedback && options.settings.effort != Effort::best) {
    return "--no-feedback goes with --effort best, which alone has error feedback";
  }
  const int cuts = int{options.settings.keeps_shards} + int{!options.shard.empty()} +
                   int{options.limits.max_bytes > 0} + int{options.limits.shard_count > 0};
  if (cuts > 1) {
    return "--keep-split takes the shards of IN, --shard, --shards and --max-size cut others; give "
           "one";
  }
  if (options.out == "-") return "OUT must be a file, which appears complete or not at all";
  return {};
}

}  // namespace ingot::cli
