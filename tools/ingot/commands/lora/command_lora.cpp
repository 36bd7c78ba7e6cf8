// SPDX-License-Identifier: MIT
// `ingot lora info ADAPTER` and `ingot lora merge MODEL ADAPTER... OUT` -- LoRA adapters in GGUF.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ingot/lora.hpp>
#include <ingot/text.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command.hpp"
#include "cli/console.hpp"
#include "cli/declaration.hpp"
#include "cli/imported_folder.hpp"
#include "cli/json_stream.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "commands/fit/engine_command.hpp"
#include "commands/json_members.hpp"
#include "commands/output_name.hpp"
#include "text/value_text.hpp"
#include "text/words.hpp"

namespace ingot::cli {

template <>
inline constexpr bool is_json_row<LoraChange> = true;

namespace {

/// Changes of one tensor in many layers that are alike but for the layer.
struct Target {
  std::string name;  ///< "blk.*.attn_q.weight"
  const LoraChange* first = nullptr;
  std::uint64_t count = 0;
};

/// "blk.7.attn_q.weight" as "blk.*.attn_q.weight".
std::string without_layer(std::string_view name) {
  constexpr std::string_view prefix = "blk.";
  if (!name.starts_with(prefix)) return std::string(name);
  const std::size_t end = name.find('.', prefix.size());
  return end == name.npos ? std::string(name)
                          : std::string(prefix) + "*" + std::string(name.substr(end));
}

bool are_alike(const LoraChange& a, const LoraChange& b) {
  const auto is_same = [](const TensorInfo* x, const TensorInfo* y) {
    if (x == nullptr || y == nullptr) return x == y;
    return x->type == y->type && std::ranges::equal(x->shape, y->shape);
  };
  return is_same(a.a, b.a) && is_same(a.b, b.b);
}

std::vector<Target> targets_of(const LoraAdapter& adapter) {
  std::vector<Target> targets;
  std::map<std::string, std::size_t, std::less<>> places;
  for (const LoraChange& change : adapter.changes) {
    std::string name = without_layer(change.name);
    const auto place = places.find(name);
    if (place != places.end() && are_alike(*targets[place->second].first, change)) {
      ++targets[place->second].count;
      continue;
    }
    places.insert_or_assign(name, targets.size());
    targets.push_back({std::move(name), &change, 1});
  }
  return targets;
}

std::uint64_t bytes_of(const LoraChange& change) {
  return change.a->size_bytes + (change.is_whole() ? 0 : change.b->size_bytes);
}

std::uint64_t parameters_of(const LoraChange& change) {
  return change.a->element_count + (change.is_whole() ? 0 : change.b->element_count);
}

/// The sums over all changes.
template <class Of>
std::uint64_t sum(const LoraAdapter& adapter, const Of& of) {
  std::uint64_t total = 0;
  for (const LoraChange& change : adapter.changes) total += of(change);
  return total;
}

void print_page(Console& console, const std::string& file, const LoraAdapter& adapter) {
  const std::vector<Target> targets = targets_of(adapter);
  const std::vector<Column> columns = {{"tensor", Align::left, Narrow::shorten},
                                       {"count", Align::right},
                                       {"rank", Align::right},
                                       {"scale", Align::right},
                                       {"rows x columns", Align::left},
                                       {"types", Align::left}};
  print_table(console, columns, targets.size(), [&](std::size_t row, auto cells) {
    const Target& target = targets[row];
    const LoraChange& change = *target.first;
    cells[0] = target.name;
    cells[1] = fmt::format("{}", target.count);
    cells[2] = change.is_whole() ? "whole" : fmt::format("{}", change.rank);
    cells[3] = fmt::format("{:.4g}", change.scale);
    cells[4] = fmt::format("{} x {}", change.row_count(), change.row_elements());
    cells[5] = type_text(change.a->type);
    if (!change.is_whole() && change.b->type != change.a->type) {
      cells[5] += ", " + type_text(change.b->type);
    }
  });
  console.print_line(
      Style::strong,
      fmt::format("{}: LoRA for {}, alpha {:.6g}, {} tensors, {} parameters, {}", escape(file),
                  escape(adapter.architecture), adapter.alpha,
                  format_digits(adapter.changes.size()), format_digits(sum(adapter, parameters_of)),
                  format_bytes(sum(adapter, bytes_of))));
  if (adapter.is_invoked) {
    console.out().print("It counts only behind certain tokens (aLoRA), so it cannot be merged.\n");
  }
}

void print_json(Console& console, const std::string& file, const LoraAdapter& adapter) {
  JsonStream json(console.out());
  const auto object = json.object();
  json.member("file", file);
  json.member("parameters", sum(adapter, parameters_of));
  json.member("bytes", sum(adapter, bytes_of));
  write_members(json, adapter);
}

void print_adapter(Console& console, const std::string& file, const LoraAdapter& adapter) {
  console.is_json() ? print_json(console, file, adapter) : print_page(console, file, adapter);
}

constexpr const char* examples =
    "Examples:\n"
    "  ingot lora info adapter.gguf\n"
    "  ingot lora merge model.gguf adapter.gguf merged.gguf\n"
    "  ingot lora merge base.gguf a.gguf b.gguf both.gguf --scale 0.5 --scale 1\n"
    "  ingot lora merge model-Q4_K_M.gguf adapter.gguf merged.gguf --type F16\n"
    "  ingot lora merge model-00001-of-00003.gguf adapter.gguf merged.gguf\n"
    "\n"
    "info   what an adapter changes, with which rank and scale\n"
    "merge  decodes the tensors that adapters change, adds scale * alpha / rank * B A\n"
    "       and encodes them as they were, or as --type; all others are copied\n"
    "Of a set of shards any file means the whole; the result is one file, which\n"
    "`ingot split` cuts.\n"
    "Adapters of PEFT become GGUF by `ingot convert`: docs/import.md.\n"
    "A merge into a quantized model is rounded again: merge into F16 and quantize\n"
    "then, where both are at hand.";

enum class Action : std::uint8_t { info, merge };

struct Options {
  Action action = Action::info;
  std::vector<std::string> files;
  std::vector<std::string> scales;
  std::string out;
  std::string type;
  bool is_forced = false;
  LoraMergeOptions merge;
};

/// A finite number; nothing if the text is none.
std::optional<double> parse_scale(const std::string& text) {
  const auto number = parse_number<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

/// An adapter with the model that holds it.
struct OpenAdapter {
  std::unique_ptr<Model> model;
  LoraAdapter adapter;
};

Result<OpenAdapter> open_adapter(Console& console, const std::string& file) {
  if (is_adapter_folder(file)) {
    return fail(Errc::not_gguf, {},
                "it is the folder of an adapter of PEFT; `ingot convert " + shell_word(file) +
                    " adapter.gguf --base FOLDER` makes the file that this command takes");
  }
  INGOT_TRY(Model model, console.open_stored(file, FileAccess::read));
  OpenAdapter opened{std::make_unique<Model>(std::move(model)), {}};
  INGOT_TRY(opened.adapter, read_lora(*opened.model));
  return opened;
}

ExitCode show(const Options& options, Console& console) {
  INGOT_CLI_TRY(const OpenAdapter opened, open_adapter(console, options.files[0]), console,
                options.files[0]);
  print_adapter(console, options.files[0], opened.adapter);
  return ExitCode::done;
}

/// Checks the arguments of `merge`; returns the fault, or an empty text.
std::string resolve_merge(Options& options, std::vector<double>& scales) {
  if (options.out.empty() && options.files.size() > 2) {
    options.out = options.files.back();
    options.files.pop_back();
  }
  if (options.out.empty()) return "name MODEL, ADAPTER and OUT";
  if (options.files.size() < 2) return "name MODEL and ADAPTER";
  const std::size_t count = options.files.size() - 1;
  if (options.scales.size() > 1 && options.scales.size() != count) {
    return "--scale is given once, or once for each adapter";
  }
  scales.assign(count, 1.0);
  for (std::size_t i = 0; i < count && !options.scales.empty(); ++i) {
    const auto scale = parse_scale(options.scales[options.scales.size() == 1 ? 0 : i]);
    if (!scale) return "--scale must be a number, such as 0.5";
    scales[i] = *scale;
  }
  if (options.type.empty()) return {};
  const TensorTypeInfo* const info = find_type(std::string_view(options.type));
  if (info == nullptr) return "--type must be a tensor type, such as F16; `ingot types` lists them";
  options.merge.type = info->type;
  return {};
}

void print_result(const Options& options, Console& console, const LoraMergePlan& plan,
                  std::uint64_t size_bytes) {
  if (console.is_json()) {
    JsonStream json(console.out());
    const auto object = json.object();
    json.member("file", options.out);
    json.member("changed_tensors", plan.changed_count);
    json.member("tensors", static_cast<std::uint64_t>(plan.tensors.size()));
    json.member("bytes", size_bytes);
  } else {
    remark_written(console, options.out,
                   fmt::format("{} of {} tensors changed", format_digits(plan.changed_count),
                               format_digits(plan.tensors.size())));
  }
}

ExitCode fail(const Options& options, Console& console, const Error& error) {
  const bool is_output = error.code == Errc::already_exists || error.subject == options.out;
  return console.fail(is_output ? options.out : options.files[0], error);
}

ExitCode merge(Options& options, Console& console) {
  std::vector<double> scales;
  if (const std::string problem = resolve_merge(options, scales); !problem.empty()) {
    return console.refuse_usage("lora: " + problem);
  }
  INGOT_CLI_TRY_VOID(resolve_output(options.out, copy_name(options.files[0], "-merged.gguf")),
                     console, options.out);
  INGOT_CLI_TRY(const Model model, console.open_stored(options.files[0], FileAccess::read), console,
                options.files[0]);
  std::vector<OpenAdapter> adapters;
  for (std::size_t i = 1; i < options.files.size(); ++i) {
    INGOT_CLI_TRY(OpenAdapter opened, open_adapter(console, options.files[i]), console,
                  options.files[i]);
    adapters.push_back(std::move(opened));
  }
  std::vector<ScaledLora> scaled;
  for (std::size_t i = 0; i < adapters.size(); ++i) {
    scaled.push_back({&adapters[i].adapter, scales[i]});
  }
  if (console.is_input(options.out)) return console.refuse_input(options.out);
  options.merge.thread_count = console.threads();
  const Result<LoraMergePlan> plan = plan_lora_merge(model, scaled, options.merge);
  if (!plan) return fail(options, console, plan.error());
  const Result<std::uint64_t> size_bytes = merged_lora_bytes(model, *plan);
  if (!size_bytes) return fail(options, console, size_bytes.error());
  Result<void> written = console.before_reading(options.files[0], model);
  for (std::size_t i = 0; written && i < adapters.size(); ++i) {
    written = console.before_reading(options.files[i + 1], *adapters[i].model);
  }
  if (written) {
    written = run_with_progress(console, options.out, *size_bytes, [&](const GoOn& go_on) {
      return merge_lora(model, *plan, options.merge, options.out, options.is_forced, go_on);
    });
  }
  if (!written) return fail(options, console, written.error());
  print_result(options, console, *plan, *size_bytes);
  return ExitCode::done;
}

ExitCode run(Options& options, Console& console) {
  if (options.action == Action::merge) return merge(options, console);
  const bool has_others =
      !options.scales.empty() || !options.out.empty() || !options.type.empty() || options.is_forced;
  if (has_others)
    return console.refuse_usage("lora: -o, --scale, --type and --force go with merge");
  if (options.files.size() != 1) return console.refuse_usage("lora: info takes one ADAPTER");
  return show(options, console);
}

}  // namespace

void add_lora_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      add_command(program, "lora", "Show LoRA adapters, and merge them into a model", examples);
  require(add_choice(command, "ACTION", "ACTION", options->action,
                     {{"info", Action::info}, {"merge", Action::merge}}, "What to do: {}"));
  require(
      add_argument(command, "FILE", options->files, "info: ADAPTER; merge: MODEL ADAPTER... OUT"));
  add_text(command, "-o,--output", options->out, "OUT", "The file to write, instead of the last");
  add_texts(command, "--scale", options->scales, "X",
            "How much of an adapter: for all, or once for each; default: 1");
  add_text(command, "--type", options->type, "TYPE",
           "Type of the changed matrices; default: as they are");
  add_switch(command, "--force", options->is_forced, "Replace OUT if it exists");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
