// SPDX-License-Identifier: MIT
#include "commands/quantize/quantize_run.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ingot/imatrix.hpp>
#include <ingot/quantize_model.hpp>
#include <ingot/shard_name.hpp>
#include <ingot/text.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "cli/imported_folder.hpp"
#include "cli/interrupt.hpp"
#include "cli/model_files.hpp"
#include "cli/progress.hpp"
#include "commands/output_name.hpp"
#include "commands/quantize/quantize_arguments.hpp"
#include "commands/quantize/quantize_importance.hpp"
#include "commands/quantize/quantize_outputs.hpp"
#include "commands/quantize/quantize_report.hpp"
#include "commands/quantize/quantize_targets.hpp"
#include "text/shard_part.hpp"

namespace ingot::cli {
namespace {

/// Wrong usage, reported already.
struct Refused {
  ExitCode code = ExitCode::usage;
};
template <class T>
using Step = tl::expected<T, Refused>;

template <class T>
Step<T> accept(Console& console, Parsed<T> parsed) {
  if (parsed) return std::move(*parsed);
  return tl::unexpected<Refused>({console.refuse_usage("quantize: " + parsed.error())});
}

/// The options that help.
struct Hint {
  Errc code;
  std::string_view text;
};
constexpr Hint hints[] = {
    {Errc::requantize_refused, "--allow-requantize does it anyway"},
    {Errc::weight_not_finite, "--allow-nan goes on"},
    {Errc::weights_required, "see --imatrix and --tensor-type"},
    {Errc::no_architecture,
     "if all else is right, name it: --override-kv general.architecture=str:NAME"},
    {Errc::type_does_not_fit, "--tensor-type chooses one"}};

Error with_hint(Error error) {
  for (const Hint& hint : hints) {
    if (hint.code != error.code) continue;
    error.detail += (error.detail.empty() ? "" : "; ") + std::string(hint.text);
  }
  return error;
}

Step<RecipeOptions> recipe_options(const QuantizeRequest& options, Console& console) {
  RecipeOptions types = options.settings.types;
  for (const auto& [word, target] :
       {std::pair(&options.output_type, &types.output_type),
        std::pair(&options.embedding_type, &types.token_embedding_type)}) {
    if (word->empty()) continue;
    const auto type = accept(console, parse_target_type(*word));
    if (!type) return tl::unexpected(type.error());
    *target = *type;
  }
  for (const std::string& text : options.tensor_types) {
    auto pattern = accept(console, parse_type_pattern(text));
    if (!pattern) return tl::unexpected(pattern.error());
    types.patterns.push_back(std::move(*pattern));
  }
  if (!options.tensor_type_file.empty()) {
    auto patterns = accept(console, read_type_patterns(options.tensor_type_file));
    if (!patterns) return tl::unexpected(patterns.error());
    types.patterns.insert(types.patterns.end(), patterns->begin(), patterns->end());
  }
  return types;
}

/// One run of the command, once its arguments make sense.
class Run {
 public:
  Run(const QuantizeRequest& options, QuantizeTarget target, Console& console, const Model& model,
      RecipeOptions types, const ImportanceMatrix* importance,
      std::span<const TensorSensitivity> sensitivities)
      : options_(options),
        target_(std::move(target)),
        console_(console),
        model_(model),
        importance_(importance),
        settings_(options.settings) {
    settings_.types = std::move(types);
    settings_.importance = importance_;
    settings_.sensitivities = sensitivities;
    if (importance_ != nullptr) settings_.importance_name = options.imatrix_files[0];
    settings_.uses_feedback = !options.has_no_feedback;
    settings_.thread_count = console.threads();
    settings_.effort = usable_effort(options, console);
  }

  /// Everything but the work: of several results none is begun before all can be.
  ExitCode prepare() {
    if (const ExitCode code = resolve_by_model(); code != ExitCode::done) return code;
    Result<QuantizePlan> plan = make_plan();
    if (!plan) return refuse(plan.error());
    plan_ = std::move(*plan);
    if (importance_ != nullptr) {
      remark_coverage(*importance_, plan_, model_, options_.imatrix_files[0], console_);
    }
    remark_effort(settings_.effort, plan_, options_.file, console_);
    if (const Result<void> cut = make_shards(); !cut) {
      return console_.fail(options_.file, cut.error());
    }
    if (settings_.resumes && shards_.size() > 1) {
      return console_.refuse_usage(
          "quantize: --resume is for results of one file; --shard I/N makes each shard by itself");
    }
    // Runs into a folder are often long: keep their parts, so that --resume can go on.
    settings_.keeps_parts = !options_.to_dir.empty() && shards_.size() == 1;
    for (const QuantizedShard& shard : shards_) {
      INGOT_CLI_TRY(const std::uint64_t bytes,
                    quantized_file_bytes(model_, plan_, settings_, shard), console_, options_.file);
      file_bytes_ += bytes;
    }
    return ExitCode::done;
  }

  [[nodiscard]] PlannedResult planned() const noexcept { return {&plan_, &settings_, shards_}; }
  [[nodiscard]] const std::string& out() const noexcept { return target_.out; }
  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return file_bytes_; }
  [[nodiscard]] std::span<const QuantizedShard> shards() const noexcept { return shards_; }

  void show_plan(JsonStream& json) const {
    if (options_.is_silent) return;
    if (console_.is_json()) {
      write_quantize_json(json, facts({}));
    } else {
      print_plan(console_, facts({}));
      print_target(console_, plan_, settings_);
    }
  }

  /// What was written, with the error of each tensor.
  ExitCode show_result(std::span<const TensorError> errors, JsonStream& json) const {
    const QuantizeFacts result = facts(errors);
    if (options_.is_silent) {
      // The caller has other words.
    } else if (console_.is_json()) {
      write_quantize_json(json, result);
    } else if (!console_.is_quiet()) {
      print_result(console_, result);
      print_written(console_, shards_, file_bytes_);
      print_target(console_, plan_, settings_);
    }
    if (options_.report.empty()) return ExitCode::done;
    const Result<void> written = write_quantize_report(options_.report, result, options_.is_forced);
    return written ? ExitCode::done : console_.fail(options_.report, written.error());
  }

  [[nodiscard]] QuantizeFacts facts(std::span<const TensorError> errors) const {
    return {.file = options_.file,
            .out = options_.is_plan ? std::string() : target_.out,
            .type = type_name_,
            .model = model_,
            .plan = plan_,
            .file_bytes = file_bytes_,
            .errors = errors,
            .first_tensor = shards_[0].first_tensor};
  }

  /// A type that lacks a matrix is what the user can change, whichever tensor came first.
  ExitCode refuse(const Error& error) {
    if (error.code == Errc::invalid_argument && error.subject == "max_memory") {
      return console_.refuse_usage("quantize: --max-memory: " + error.detail);
    }
    if (error.code == Errc::interrupted && !error.detail.empty()) {
      console_.remark(options_.file, "stopped; " + error.detail);
    }
    if (error.code == Errc::already_exists && !error.detail.empty()) {
      return console_.refuse(error.subject,
                             "the file exists; --force replaces it; " + error.detail);
    }
    if (error.code != Errc::weights_required || importance_ != nullptr) {
      return console_.fail(options_.file, with_hint(error));
    }
    return console_.refuse(options_.file,
                           error.detail + " needs an importance matrix: --imatrix FILE");
  }

 private:
  /// Arguments that depend on the model: the type and the keys.
  ExitCode resolve_by_model() {
    if (!options_.target_bits.empty()) {
      const auto bits = accept(console_, parse_bits("--target-bpw", options_.target_bits));
      if (!bits) return bits.error().code;
      settings_.target_bits_per_weight = *bits;
      type_name_ = fmt::format("{} bits per weight", options_.target_bits);
    } else if (!options_.target_size.empty()) {
      const auto size = accept(console_, parse_size("--target-size", options_.target_size));
      if (!size) return size.error().code;
      settings_.target_file_bytes = *size;
      type_name_ = fmt::format("at most {}", options_.target_size);
    } else {
      const auto recipe = accept(console_, parse_recipe(target_.type));
      if (!recipe) return recipe.error().code;
      settings_.recipe = *recipe;
      type_name_ = std::string((*recipe)->name);
    }
    if (!options_.shard.empty()) {
      part_ = parse_shard_part(options_.shard);
      if (!part_) {
        return console_.refuse_usage(fmt::format("quantize: --shard must be {}, not \"{}\"",
                                                 shard_part_form, escape(options_.shard)));
      }
    }
    std::vector<KeyOverride> changes;
    for (const std::string& text : options_.overrides) {
      const auto change = accept(console_, parse_override(text, model_));
      if (!change) return change.error().code;
      changes.push_back(*change);
    }
    settings_.adjust_metadata = [changes](ModelWriter& writer) -> Result<void> {
      for (const KeyOverride& change : changes) INGOT_TRY_VOID(apply_override(writer, change));
      return {};
    };
    return ExitCode::done;
  }

  /// The files to write: one, one of a set, or as many as there are to read.
  Result<void> make_shards() {
    SplitLimits limits = options_.limits;
    if (part_) limits.shard_count = part_->count;
    if (limits.max_bytes > 0 || limits.shard_count > 0) {
      INGOT_TRY(shards_, cut_shards(model_, plan_, settings_, limits));
    } else if (settings_.keeps_shards) {
      shards_ = kept_shards(model_, plan_);
    }
    if (part_) {
      shards_ = {shards_[part_->index]};
    } else if (shards_.size() < 2) {
      shards_ = {{.path = target_.out}};
      return {};
    }
    const std::string prefix = prefix_of(target_.out);
    for (QuantizedShard& shard : shards_) {
      shard.path = shard_file_name(prefix, shard.index, shard.count);
    }
    return {};
  }

  Result<QuantizePlan> make_plan() {
    std::uint64_t total = 0;
    for (const TensorInfo& tensor : model_.tensors()) total += tensor.size_bytes;
    Progress progress(console_, options_.file + ": measuring", total);
    return plan_quantization(model_, settings_, progress.go_on());
  }

  const QuantizeRequest& options_;
  QuantizeTarget target_;
  Console& console_;
  const Model& model_;
  const ImportanceMatrix* importance_;
  QuantizeModelOptions settings_;
  std::string type_name_;
  QuantizePlan plan_;
  std::optional<ShardPart> part_;
  std::vector<QuantizedShard> shards_;
  std::uint64_t file_bytes_ = 0;
};

using Runs = std::vector<std::unique_ptr<Run>>;

/// Writes the files of all runs, for which the model is read once; they appear when all are
/// complete.
Result<std::vector<std::vector<TensorError>>> write(const Runs& runs, const Model& model,
                                                    const QuantizeRequest& options,
                                                    Console& console) {
  std::vector<PlannedResult> results;
  std::uint64_t bytes = 0;
  for (const auto& run : runs) {
    results.push_back(run->planned());
    bytes += run->file_bytes();
  }
  const std::string label =
      runs.size() == 1 ? runs[0]->out() : fmt::format("{}: {} types", options.file, runs.size());
  Progress progress(console, label, bytes);
  return quantize_together(model, results, options.is_forced, progress.go_on());
}

ExitCode work(const Runs& runs, const Model& model, const QuantizeRequest& options,
              Console& console) {
  std::vector<std::vector<TensorError>> errors;
  if (!options.is_plan) {
    auto written = write(runs, model, options, console);
    if (!written) return runs[0]->refuse(written.error());
    errors = std::move(*written);
  }
  JsonStream json(console.out());
  const bool is_list = console.is_json() && runs.size() > 1;
  if (runs.size() > 1 && !options.is_plan && !console.is_json()) {
    std::vector<QuantizeFacts> facts;
    for (std::size_t i = 0; i < runs.size(); ++i) facts.push_back(runs[i]->facts(errors[i]));
    if (!console.is_quiet()) print_results(console, facts);
    return ExitCode::done;
  }
  if (is_list) json.begin_array();
  ExitCode code = ExitCode::done;
  for (std::size_t i = 0; i < runs.size() && code == ExitCode::done; ++i) {
    if (options.is_plan) {
      runs[i]->show_plan(json);
    } else {
      code = runs[i]->show_result(errors[i], json);
    }
  }
  if (is_list) json.end();
  return code;
}

}  // namespace

ExitCode run_quantize(QuantizeRequest& options, Console& console) {
  std::vector<QuantizeTarget> targets;
  const std::string problem =
      resolve_arguments(options, console.remote().local_name(options.file), targets);
  if (!problem.empty()) return console.refuse_usage("quantize: " + problem);
  // Before any file is opened: a word that is wrong is wrong anyway.
  for (const QuantizeTarget& target : targets) {
    if (target.type.empty()) continue;
    const auto recipe = accept(console, parse_recipe(target.type));
    if (!recipe) return recipe.error().code;
  }
  const auto types = recipe_options(options, console);
  if (!types) return types.error().code;
  if (options.settings.resumes || !options.to_dir.empty()) {
    options.settings.resume_key = state_of_folder(options.file);
  }
  if (options.pre && !is_model_to_import(console, options.file)) {
    return console.refuse_usage("quantize: --pre is for model folders");
  }
  std::unique_ptr<Import> import;
  INGOT_CLI_TRY(const Model model,
                open_model_or_folder(console, options.file, {.pre = options.pre}, import), console,
                options.file);
  std::optional<ImportanceMatrix> importance;
  ExitCode code = open_importance(options, console, importance);
  if (code != ExitCode::done) return code;
  std::vector<TensorSensitivity> sensitivities;
  code = open_sensitivities(options, console, sensitivities);
  if (code != ExitCode::done) return code;
  const OrderlyStop orderly_stop;
  const auto expect_passes = [&](std::uint64_t passes) {
    const auto ready = before_reading(console, options.file, model, import.get(), passes);
    return ready ? ExitCode::done : console.fail(options.file, ready.error());
  };
  if (has_target(options)) code = expect_passes(options.is_plan ? 1 : 2);  // errors come first
  if (code != ExitCode::done) return code;
  Runs runs;
  for (QuantizeTarget& target : targets) {
    runs.push_back(std::make_unique<Run>(options, std::move(target), console, model, *types,
                                         importance ? &*importance : nullptr, sensitivities));
    code = runs.back()->prepare();
    if (code != ExitCode::done) return code;
  }
  if (!options.is_plan) {
    // What is refused leaves no folder behind.
    INGOT_CLI_TRY_VOID(make_output_folder(options.out), console, options.out);
    for (const auto& run : runs) {
      code = check_outputs(options, run->shards(), console);
      if (code != ExitCode::done) return code;
    }
  }
  if (!options.is_plan && !has_target(options)) code = expect_passes(1);  // for all types
  if (code != ExitCode::done) return code;
  code = work(runs, model, options, console);
  for (const auto& run : runs) {
    if (code != ExitCode::done) break;
    options.written.insert(options.written.end(), run->shards().begin(), run->shards().end());
    options.written_bytes += run->file_bytes();
  }
  return code;
}

}  // namespace ingot::cli
