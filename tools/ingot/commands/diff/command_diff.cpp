// SPDX-License-Identifier: MIT
// `ingot diff A B` -- what differs between two models.

#include <ingot/diff.hpp>
#include <memory>
#include <vector>

#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "commands/diff/diff_report.hpp"
#include "text/shown_keys.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot diff old.gguf new.gguf\n"
    "  ingot diff model-F16.gguf model-Q4_K_M.gguf --data\n"
    "  ingot diff a.gguf b.gguf --data --json | jq '.data[].rmse'\n"
    "\n"
    "Compared are, by name, keys (type and value), tensors (type and shape) and the\n"
    "bytes that tensors store; --no-data reads only the headers. --data also\n"
    "measures how far the decoded weights of tensors of the same shape are apart,\n"
    "with A as the reference. Versions, byte orders and shards do not matter, nor\n"
    "does the order.\n"
    "Exit status 1: something differs.";

struct Options {
  std::string a;
  std::string b;
  bool measures_weights = false;
  bool skips_data = false;
  bool shows_all_keys = false;
};

/// Reads the stored bytes of all tensors that can be compared.
Result<void> compare_models(const Options& options, Console& console, Comparison& comparison) {
  std::uint64_t total_bytes = 0;
  for (const TensorInfo& tensor : comparison.a.tensors()) total_bytes += 2 * tensor.size_bytes;
  return run_with_progress(console, options.a, total_bytes, [&](const GoOn& go_on) -> Result<void> {
    INGOT_TRY(comparison.difference, find_differences(comparison.a, comparison.b,
                                                      {.with_data = !options.skips_data,
                                                       .thread_count = console.threads(),
                                                       .progress = go_on}));
    return {};
  });
}

Result<void> measure_weights(const Options& options, Console& console, Comparison& comparison) {
  comparison.has_distances = true;
  comparison.pairs = find_pairs(comparison.a, comparison.b);
  comparison.distances.resize(comparison.pairs.size());
  comparison.has_same_bytes.resize(comparison.pairs.size());
  auto data = comparison.difference.data.begin();  // entries are in the order of the pairs
  std::vector<TensorPair> differing;
  std::vector<std::size_t> positions;
  std::uint64_t total_bytes = 0;
  for (std::size_t i = 0; i < comparison.pairs.size(); ++i) {
    const TensorPair& pair = comparison.pairs[i];
    const bool has_other_data = data != comparison.difference.data.end() && data->a == pair.a;
    if (has_other_data) ++data;
    comparison.has_same_bytes[i] = pair.a->type == pair.b->type && !has_other_data;
    if (comparison.has_same_bytes[i]) continue;
    total_bytes += pair.a->size_bytes + pair.b->size_bytes;
    differing.push_back(pair);
    positions.push_back(i);
  }
  return run_with_progress(console, options.a, total_bytes, [&](const GoOn& go_on) -> Result<void> {
    INGOT_TRY(const std::vector<WeightDistance> distances,
              measure_distances(comparison.a, comparison.b, differing, console.threads(), go_on));
    for (std::size_t i = 0; i < positions.size(); ++i) {
      comparison.distances[positions[i]] = distances[i];
    }
    return {};
  });
}

ExitCode run(const Options& options, Console& console) {
  if (options.a == "-" && options.b == "-") {
    return console.refuse_usage("diff: only one of A and B can be standard input");
  }
  if (options.measures_weights && options.skips_data) {
    return console.refuse_usage("diff: --data reads the weights, --no-data does not; give one");
  }
  INGOT_CLI_TRY(const Model a, console.open_model(options.a), console, options.a);
  INGOT_CLI_TRY(const Model b, console.open_model(options.b), console, options.b);
  const std::uint64_t passes =
      (options.skips_data ? 0u : 1u) + (options.measures_weights ? 1u : 0u);
  Result<void> ready = console.before_reading(options.a, a, passes);
  if (ready) ready = console.before_reading(options.b, b, passes);
  if (!ready) return console.fail(options.a, ready.error());
  Comparison comparison{.file_a = options.a,
                        .file_b = options.b,
                        .a = a,
                        .b = b,
                        .difference = {},
                        .pairs = {},
                        .distances = {},
                        .has_same_bytes = {}};
  Result<void> compared = compare_models(options, console, comparison);
  if (compared && options.measures_weights) {
    compared = measure_weights(options, console, comparison);
  }
  if (!compared) return console.fail(options.a, compared.error());
  std::erase_if(comparison.difference.keys, [&](const KeyDifference& key) {
    return !is_shown_key(key.key, options.shows_all_keys);
  });
  if (console.is_json()) {
    print_diff_json(console, comparison);
  } else if (!console.is_quiet()) {
    print_diff_text(console, comparison);
  }
  return comparison.difference.is_same() ? ExitCode::done : ExitCode::negative;
}

}  // namespace

void add_diff_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = add_command(
      program, "diff", "Show what differs between two models, weights included", examples);
  require(add_argument(command, "A", options->a, "A GGUF file, or any shard of a set"));
  require(add_argument(command, "B", options->b, "The other one"));
  add_switch(command, "--data", options->measures_weights,
             "Also decode weights that differ: largest error, RMSE, SQNR, cosine");
  add_switch(command, "--no-data", options->skips_data,
             "Compare keys and tensors only, not the bytes that tensors store");
  add_switch(command, "--all", options->shows_all_keys, all_keys_description);
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
