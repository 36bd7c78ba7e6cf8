// SPDX-License-Identifier: MIT
// `ingot fit FILE` -- will it run? The memory on every device, from the header alone.

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <ingot/check.hpp>
#include <ingot/metadata_keys.hpp>
#include <ingot/text.hpp>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "cli/json_stream.hpp"
#include "cli/model_files.hpp"
#include "cli/remote/stored_file.hpp"
#include "cli/table.hpp"
#include "commands/fit/engine_command.hpp"
#include "commands/fit/fit_arguments.hpp"
#include "commands/fit/fit_grid.hpp"
#include "commands/fit/fit_page.hpp"
#include "commands/fit/fit_result.hpp"
#include "commands/json_members.hpp"
#include "text/error_json.hpp"
#include "text/words.hpp"

namespace ingot::cli {

template <>
inline constexpr bool is_json_row<CacheUse> = true;

namespace {

void write_fit_json(JsonStream& json, const FitResult& result) {
  const auto object = json.object();
  json.member("file", result.file);
  write_members<RunReport>(json, result);
  if (!result.model.is_verified()) json.member("verified", false);
}

constexpr const char* examples =
    "Examples:\n"
    "  ingot fit model.gguf                              # what it takes\n"
    "  ingot fit model.gguf -d 24G -c 32k                # on a card of 24 GB\n"
    "  ingot fit model.gguf -d rtx-3090,rtx-3060 --host 64G\n"
    "  ingot fit model.gguf -d auto                      # on this machine\n"
    "  ingot fit model.gguf -d m4-max-64 --max-context\n"
    "  ingot fit model.gguf -d 12G --cache-type-k q8_0 --cache-type-v q8_0\n"
    "  ingot fit model.gguf -d 24G --with mmproj.gguf --for llama.cpp\n"
    "  ingot fit model.gguf --with mmproj.gguf --images 3 --image-size 1024x768\n"
    "  ingot fit model.gguf --markdown                   # for a model card\n"
    "  ingot fit model-*.gguf -d 24G                     # one line each\n"
    "\n"
    "Figures are those of llama.cpp: weights and cache exactly, work space closely;\n"
    "docs/estimate.md has the formulas and what is not counted. Options mean what\n"
    "they mean there, and its short spellings work, too: -ngl, -ub, -np, -ctk, -ctv,\n"
    "-fa, -kvu, -ts, -cmoe, -ncmoe, -nkvo. A size like 24G is a card of 24 GiB, of\n"
    "which its driver keeps a little. Only headers are read.\n"
    "Exit status 1: one does not fit.";

/// Opens a model; if only its header is there, that.
Result<Model> open_for_fit(const std::string& file, Console& console) {
  Result<Model> model = console.open_model(file);
  if (model || file == "-") return model;
  const Errc code = model.error().code;
  if (code != Errc::tensor_outside_file && code != Errc::truncated) return model;
  OpenOptions options = console.open_options();
  options.is_header_only = true;
  Result<Model> header = Model::open(file, options);
  if (!header) return model;
  console.remark(file, "the data is not all there; the header is enough for an estimate");
  return header;
}

ExitCode list_devices(Console& console) {
  const std::vector<Column> columns = {{"name", Align::left},
                                       {"device", Align::left},
                                       {"memory", Align::right},
                                       {"usable", Align::right},
                                       {"bandwidth", Align::right}};
  const std::span<const DeviceModel> models = device_models();
  if (console.is_json()) {
    JsonStream json(console.out());
    json.objects(models, [&](const DeviceModel& model) {
      json.member("name", model.name);
      json.member("label", model.label);
      json.member("memory_bytes", model.memory_bytes);
      json.member("usable_bytes", model.usable_bytes);
      json.member("bandwidth", model.bandwidth);
    });
    return ExitCode::done;
  }
  print_table(console, columns, models.size(), [&](std::size_t row, std::span<std::string> cells) {
    const DeviceModel& model = models[row];
    cells[0] = model.name;
    cells[1] = model.label;
    cells[2] = format_bytes(model.memory_bytes);
    cells[3] = format_bytes(model.usable_bytes);
    cells[4] = fmt::format("{:.0f} GB/s", model.bandwidth / 1e9);
  });
  return ExitCode::done;
}

/// Several models: the rows of a table, or the elements of an array.
class FitRows {
 public:
  explicit FitRows(Console& console) : console_(console), json_(console.out()) {
    if (console_.is_json()) json_.begin_array();
  }

  void add(const FitResult& result) {
    if (console_.is_json()) return write_fit_json(json_, result);
    Row& row = rows_.emplace_back();
    const MemoryEstimate& run = result.estimate;
    row.verdict = run.verdict;
    std::uint64_t device_bytes = 0;
    for (const MemoryUse& device : run.devices) device_bytes += device.total_bytes;
    row.cells = {escape(result.file),
                 std::string(word_of(run.verdict)),
                 format_bytes(device_bytes + run.host.total_bytes),
                 format_bytes(device_bytes),
                 format_bytes(run.weights_bytes),
                 format_bytes(run.cache_bytes),
                 format_digits(run.context)};
  }

  /// A file of which nothing is known; for people there is the line on standard error.
  void add(const std::string& file, const Error& error) {
    if (console_.is_json()) write_error_json(json_, file, error);
  }

  void end() {
    if (console_.is_json()) return json_.end();
    if (rows_.empty()) return;
    const Column columns[] = {{"model"},
                              {"verdict"},
                              {"in all", Align::right},
                              {"on devices", Align::right, Narrow::hide},
                              {"weights", Align::right, Narrow::hide},
                              {"cache", Align::right, Narrow::hide},
                              {"context", Align::right, Narrow::hide}};
    print_table(console_, columns, rows_.size(), [&](std::size_t i, std::span<std::string> cells) {
      std::ranges::copy(rows_[i].cells, cells.begin());
      cells[1] = console_.paint(style_of(rows_[i].verdict), cells[1]);
    });
  }

 private:
  struct Row {
    std::array<std::string, 7> cells;
    Verdict verdict = Verdict::unknown;
  };

  Console& console_;
  JsonStream json_;
  std::vector<Row> rows_;
};

/// The fit of one model.
class Fit {
 public:
  /// `rows` takes the result; without, it is printed.
  Fit(const FitArguments& arguments, const std::string& file, const RunOptions& options,
      Console& console, FitRows* rows)
      : arguments_(arguments), file_(file), console_(console), options_(options), rows_(rows) {}

  ExitCode run() {
    if (std::ranges::count(arguments_.devices, "auto") > 0 && options_.devices.empty()) {
      console_.remark(file_, "no card is found on this machine; the host computes alone");
    }
    if (arguments_.gpu_layers && options_.gpu_layers != 0 && arguments_.devices.empty()) {
      console_.remark(file_,
                      "--gpu-layers says nothing without --device; all layers are on the host");
    }
    const Result<Model> model = open_for_fit(file_, console_);
    if (!model) return fail(model.error(), file_);
    Result<MemoryProfile> profile = MemoryProfile::read(*model);
    if (!profile) return fail(profile.error(), file_);
    engine_files_ = {{"--model", file_}};
    if (profile->architecture() == "clip") {
      console_.remark(file_,
                      "it is a projector, which runs beside a model only: ingot fit MODEL --with " +
                          shell_word(file_));
    }
    if (const ExitCode code = add_companions(*model, *profile); code != ExitCode::done) return code;
    if (arguments_.wants_table) return print_table_of(*model, *profile);
    return print_result(*model, *profile);
  }

 private:
  /// The failure of the model, or of a file beside it.
  ExitCode fail(const Error& error, const std::string& file) {
    if (rows_ != nullptr) rows_->add(file_, error);
    return console_.fail(file, error);
  }

  /// Says what `ingot check --with` warns of: a projector that the model cannot use.
  Result<void> remark_mismatch(const Model& model, const Model& projector,
                               const std::string& file) {
    CheckOptions options;
    options.projector = &projector;
    options.is_wanted = [](const CheckRule& rule) {
      return rule.name == "projector_mismatch" || rule.name == "projector_tokens";
    };
    const Result<CheckSummary> checked = check_model(
        model, options, [&](const Finding& finding) { console_.remark(file, finding.message); });
    if (!checked) return ingot::fail(checked.error());
    return {};
  }

  ExitCode add_companions(const Model& model, MemoryProfile& profile) {
    for (const std::string& file : arguments_.companions) {
      const Result<Model> companion = open_for_fit(file, console_);
      if (!companion) return fail(companion.error(), file);
      if (const auto added = profile.add_companion(*companion); !added) {
        return fail(added.error(), file);
      }
      const auto type = companion->get_or<std::string_view>(keys::general_type, {});
      engine_files_.emplace_back(type == "adapter" ? "--lora" : "--mmproj", file);
      if (type == "adapter") continue;
      const auto compared = remark_mismatch(model, *companion, file);
      if (!compared) return fail(compared.error(), file);
    }
    return ExitCode::done;
  }

  ExitCode print_table_of(const Model& model, const MemoryProfile& profile) {
    std::vector<std::uint64_t> contexts;
    for (const std::string& word : split_list(arguments_.contexts.value_or(""))) {
      const std::optional<std::uint64_t> tokens = parse_token_count(word);
      if (!arguments_.contexts) break;
      if (!tokens || *tokens == 0) {
        return console_.refuse_usage("fit: --contexts: \"" + escape_shortened(word, 40) +
                                     "\" is not a number of tokens like 8192 or 32k");
      }
      contexts.push_back(*tokens);
    }
    std::vector<std::string> types;
    if (arguments_.types) types = split_list(*arguments_.types);
    for (const std::string& type : types) {
      if (!is_recipe(type)) {
        return console_.refuse_usage("fit: --types: there is no quantization \"" +
                                     escape_shortened(type, 40) + "\"; Q4_K_M is one");
      }
    }
    INGOT_CLI_TRY(const FitGrid grid,
                  make_grid(model, profile, options_, std::move(contexts), types), console_, file_);
    console_.is_json() ? print_grid_json(console_, file_, grid)
                       : print_grid(console_, grid, options_);
    return ExitCode::done;
  }

  ExitCode print_result(const Model& model, const MemoryProfile& profile) {
    if (arguments_.wants_longest_context) {
      const Result<Advice> advice = profile.advise(options_);
      if (!advice) return fail(advice.error(), file_);
      // If no context fits, the shortest shows how much memory is missing.
      options_.context = advice->context.value_or(1);
    }
    Result<RunReport> report = profile.report(options_);
    if (!report) return fail(report.error(), file_);
    FitResult result{*std::move(report), file_, model, profile, {}};
    for (Change& change : result.advice.changes) {
      if (change.kind != ChangeKind::weights) continue;
      result.smaller = largest_quantization(model, change.weights_bytes);
      if (result.smaller) change.recipe = result.smaller->recipe;
    }
    return show(result);
  }

  ExitCode show(const FitResult& result) {
    const MemoryEstimate& run = result.estimate;
    if (result.options.images > 0 && run.image_tokens >= run.context_per_sequence) {
      console_.remark(file_, "the context is too small for the images");
    }
    if (run.audio_tokens > 0 && run.audio_tokens >= run.context_per_sequence) {
      console_.remark(file_, "the context is too small for the sound");
    }
    const ExitCode code =
        result.estimate.verdict == Verdict::does_not_fit ? ExitCode::negative : ExitCode::done;
    if (arguments_.for_llama_cpp) return print_command(result);
    if (rows_ != nullptr) {
      rows_->add(result);
    } else if (console_.is_json()) {
      JsonStream json(console_.out());
      write_fit_json(json, result);
    } else {
      print_fit_page(console_, result);
    }
    return code;
  }

  ExitCode print_command(const FitResult& result) {
    const RunOptions* options = &result.options;
    if (result.estimate.verdict == Verdict::does_not_fit) {
      const auto& changes = result.advice.changes;
      if (changes.empty() || changes.front().kind == ChangeKind::weights) {
        return console_.refuse(file_, "it does not fit, and no option makes it fit",
                               ExitCode::negative);
      }
      options = &changes.front().options;
      console_.remark(file_,
                      "it does not fit so; with " + option_text(changes.front()) + " it does");
    }
    INGOT_CLI_TRY(const MemoryEstimate estimate, result.profile.estimate(*options), console_,
                  file_);
    std::string files;
    for (const auto& [option, file] : engine_files_) {
      const Result<std::string> path = find_here(console_, file);
      const auto opened = console_.remote().opened_file(file);
      const std::string name = console_.remote().plain_name(file);
      if (path) {
        files += fmt::format(" {} {}", option, shell_word(*path));
      } else if (option == "--model" && opened && name.starts_with("hf:")) {
        const std::string repository =
            name.substr(3, name.find_first_of("/@:", name.find('/') + 1) - 3);
        files += fmt::format(" --hf-repo {} --hf-file {}", shell_word(repository),
                             shell_word(opened->file_name));
      } else {
        return console_.fail(file, path.error());
      }
    }
    console_.out().print("{}\n", llama_cpp_command(files, *options, estimate));
    return ExitCode::done;
  }

  const FitArguments& arguments_;
  const std::string& file_;
  Console& console_;
  RunOptions options_;
  FitRows* rows_;
  /// The options of the engine that name files, and the files as they were given.
  std::vector<std::pair<std::string_view, std::string>> engine_files_;
};

ExitCode run(const FitArguments& arguments, Console& console) {
  if (arguments.lists_devices) return list_devices(console);
  const std::vector<std::string> files = distinct_models(arguments.files, true);
  if (files.empty()) {
    return console.refuse_usage("fit: FILE is missing; the usage is: ingot fit [OPTIONS] FILE...");
  }
  const bool is_one = files.size() == 1;
  if (!is_one && (arguments.for_llama_cpp || arguments.wants_table)) {
    return console.refuse_usage("fit: --for and --markdown are about one model; give one FILE");
  }
  const Result<RunOptions> options = run_options_of(arguments);
  if (!options) {
    return console.refuse_usage("fit: " + options.error().subject + ": " + options.error().detail);
  }
  const bool has_limit = !options->devices.empty() || options->host_bytes.has_value();
  if (arguments.wants_longest_context && !has_limit) {
    return console.refuse_usage("fit: --max-context needs a --device or a --host");
  }
  if (is_one) return Fit(arguments, files[0], *options, console, nullptr).run();
  FitRows rows(console);
  console.finish_all(files, [&](const std::string& file) {
    return Fit(arguments, file, *options, console, &rows).run();
  });
  rows.end();
  return ExitCode::done;
}

}  // namespace

void add_fit_command(CLI::App& program, Console& console) {
  auto arguments = std::make_shared<FitArguments>();
  CLI::App& command =
      add_command(program, "fit", "Say whether a model fits the memory, and what would", examples);
  add_fit_arguments(command, *arguments);
  console.add_index_option(command);
  on_run(command, [arguments, &console] { console.finish(run(*arguments, console)); });
}

}  // namespace ingot::cli
