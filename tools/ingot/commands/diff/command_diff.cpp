// SPDX-License-Identifier: MIT
// `ingot diff A B` -- what differs between two models.

#include <ingot/diff.hpp>
#include <memory>
#include <utility>

#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "commands/diff/diff_report.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot diff old.gguf new.gguf\n"
    "  ingot diff model-F16.gguf model-Q4_K_M.gguf --data\n"
    "  ingot diff a.gguf b.gguf --data --json | jq '.data[].rmse'\n"
    "\n"
    "Compared are keys (type and value) and tensors (type and shape), by name; with\n"
    "--data also the decoded weights of tensors of the same shape, with A as the\n"
    "reference. Versions, byte orders and shards do not matter, nor does the order.\n"
    "Exit status 1: something differs.";

struct Options {
  std::string a;
  std::string b;
  bool has_data = false;
};

Result<void> compare_data(const Options& options, Console& console, Comparison& comparison) {
  comparison.has_data = true;
  comparison.pairs = find_pairs(comparison.a, comparison.b);
  std::uint64_t total_bytes = 0;
  for (const TensorPair& pair : comparison.pairs) {
    total_bytes += pair.a->size_bytes + pair.b->size_bytes;
  }
  const OrderlyStop orderly_stop;
  Progress progress(console, options.a, total_bytes);
  INGOT_TRY(comparison.distances,
            measure_distances(comparison.a, comparison.b, comparison.pairs, console.threads(),
                              [&](std::uint64_t done_bytes) {
                                progress.update(done_bytes);
                                return stop_signal() == 0;
                              }));
  return {};
}

ExitCode run(const Options& options, Console& console) {
  if (options.a == "-" && options.b == "-") {
    return console.refuse_usage("diff: only one of A and B can be standard input");
  }
  const Result<Model> a = console.open_model(options.a);
  if (!a) return console.fail(options.a, a.error());
  const Result<Model> b = console.open_model(options.b);
  if (!b) return console.fail(options.b, b.error());
  Comparison comparison{.file_a = options.a,
                        .file_b = options.b,
                        .a = *a,
                        .b = *b,
                        .difference = find_differences(*a, *b),
                        .pairs = {},
                        .distances = {}};
  if (options.has_data) {
    const Result<void> compared = compare_data(options, console, comparison);
    if (!compared) return console.fail(options.a, compared.error());
  }
  if (console.is_json()) {
    print_diff_json(console, comparison);
  } else if (!console.is_quiet()) {
    print_diff_text(console, comparison);
  }
  return comparison.is_same() ? ExitCode::done : ExitCode::negative;
}

}  // namespace

void add_diff_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command = add_command(
      program, "diff", "Show what differs between two models, weights included", examples);
  require(add_argument(command, "A", options->a, "A GGUF file, or any shard of a set"));
  require(add_argument(command, "B", options->b, "The other one"));
  add_switch(command, "--data", options->has_data,
             "Compare the decoded weights: largest error, RMSE, SQNR, cosine");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
