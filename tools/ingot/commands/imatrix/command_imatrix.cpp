// SPDX-License-Identifier: MIT
// `ingot imatrix show|merge|convert FILE...` -- importance matrices; `collect MODEL` makes them.

#include <fmt/core.h>

#include <algorithm>
#include <ingot/imatrix.hpp>
#include <ingot/recipe.hpp>
#include <ingot/text.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "cli/command.hpp"
#include "cli/early_output.hpp"
#include "cli/interrupt.hpp"
#include "cli/model_files.hpp"
#include "cli/remote/stored_file.hpp"
#include "cli/table.hpp"
#include "commands/evaluate/evaluation_run.hpp"
#include "commands/json_members.hpp"
#include "commands/output_name.hpp"
#include "text/model_facts.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot imatrix show imatrix.gguf\n"
    "  ingot imatrix show imatrix.dat --model model-F16.gguf\n"
    "  ingot imatrix merge english.gguf code.gguf -o both.gguf\n"
    "  ingot imatrix convert imatrix.dat -o imatrix.gguf\n"
    "  ingot imatrix collect model-F16.gguf --text calibration.txt -o imatrix.gguf\n"
    "  ingot imatrix collect m-F16.gguf --text text.txt --part 2/8 -o 2.gguf\n"
    "\n"
    "show   what is in the files, all together; with --model also what is missing\n"
    "merge  as if all had been collected in one run: sums and counts are added\n"
    "convert  from either format to the other\n"
    "collect  run a model on a text and sum up the inputs of its matrices\n"
    "An OUT that ends in .dat is in the older format, any other is GGUF.\n"
    "Exit status 1: with --model, a matrix of the model has no data, or wrong sizes.";

enum class Action : std::uint8_t { show, merge, convert, collect };

struct Options {
  Action action = Action::show;
  std::vector<std::string> files;
  std::string out;
  std::string model;
  TextRequest text;
  PartRequest part;
  bool includes_output = false;
  std::uint64_t moment_columns = 0;  ///< 0: no second moments
  bool is_forced = false;
};

/// The comparison of an importance matrix with a model.
struct Coverage {
  std::uint64_t covered = 0;
  std::vector<std::string> missing;     ///< Matrices that would be quantized and have no data.
  std::vector<std::string> mismatched;  ///< Entries of another size than their tensor.
  std::vector<std::string> unmatched;   ///< Entries of no tensor.
};

Result<ImportanceMatrix> open_all(Console& console, const std::vector<std::string>& files,
                                  std::string& failed) {
  std::optional<ImportanceMatrix> all;
  for (const std::string& file : files) {
    failed = file;
    INGOT_TRY(const std::string path, find_here(console, file));
    INGOT_TRY(ImportanceMatrix matrix, ImportanceMatrix::open(path));
    INGOT_TRY_VOID(matrix.check_values());
    if (!all) {
      all = std::move(matrix);
    } else {
      INGOT_TRY_VOID(all->merge(std::move(matrix)));
    }
  }
  return std::move(*all);
}

Result<Coverage> cover(const ImportanceMatrix& matrix, const Model& model) {
  Coverage coverage;
  INGOT_TRY(const std::vector<TypeChoice> choices,
            choose_types(model.tensors(), traits_of(model), *find_recipe("F16"), {}));
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const TensorInfo& tensor = model.tensors()[i];
    const ImatrixEntry* entry = matrix.find(tensor.name);
    const std::uint64_t experts = tensor.shape.size() > 2 ? tensor.shape[2] : 1;
    if (entry != nullptr && entry->value_count != tensor.row_elements() * experts) {
      coverage.mismatched.emplace_back(tensor.name);
    } else if (entry != nullptr) {
      ++coverage.covered;
    } else if (choices[i].is_considered() && choices[i].role != TensorRole::token_embedding &&
               choices[i].role != TensorRole::output) {
      coverage.missing.emplace_back(tensor.name);
    }
  }
  for (const ImatrixEntry& entry : matrix.entries()) {
    if (model.find_tensor(entry.name) == nullptr) coverage.unmatched.push_back(entry.name);
  }
  return coverage;
}

void print_json(Console& console, const Options& options, const ImportanceMatrix& matrix,
                const std::vector<ImatrixSummary>& facts, const std::optional<Coverage>& coverage) {
  JsonStream json(console.out());
  const auto object = json.object();
  json.values("files", options.files);
  json.member("format", matrix.format() == ImatrixFormat::gguf ? "gguf" : "dat");
  json.member("chunk_count", matrix.chunk_count());
  json.member("chunk_size", matrix.chunk_size());
  json.values("datasets", matrix.datasets());
  json.objects("entries", facts.size(), [&](std::size_t i) {
    write_members(json, matrix.entries()[i]);
    write_members(json, facts[i]);
  });
  json.key("coverage");
  if (coverage) {
    const auto covered = json.object();
    json.member("covered", coverage->covered);
    json.values("missing", coverage->missing);
    json.values("mismatched", coverage->mismatched);
    json.values("unmatched", coverage->unmatched);
  } else {
    json.null();
  }
}

void print_names(Console& console, const char* heading, const std::vector<std::string>& names) {
  if (names.empty()) return;
  console.out().print("{} ({}):\n", heading, format_digits(names.size()));
  for (const std::string& name : names) console.out().print("  {}\n", escape(name));
}

void print_page(Console& console, const ImportanceMatrix& matrix,
                const std::vector<ImatrixSummary>& facts, const std::optional<Coverage>& coverage) {
  const std::vector<Column> columns = {{"tensor", Align::left, Narrow::shorten},
                                       {"columns", Align::right, Narrow::hide},
                                       {"moments", Align::right, Narrow::hide},
                                       {"experts", Align::right},
                                       {"unused", Align::right},
                                       {"tokens", Align::right},
                                       {"mean", Align::right},
                                       {"largest", Align::right, Narrow::hide}};
  if (!facts.empty()) {
    print_table(console, columns, facts.size(), [&](std::size_t row, std::span<std::string> cells) {
      const ImatrixEntry& entry = matrix.entries()[row];
      cells[0] = entry.name;
      cells[1] = fmt::format("{}", entry.column_count());
      cells[2] = entry.moment_columns == 0 ? "-" : fmt::format("{}", entry.moment_columns);
      cells[3] = fmt::format("{}", entry.expert_count);
      cells[4] = fmt::format("{}", facts[row].unused_experts);
      cells[5] = fmt::format("{:.0f}", facts[row].token_count);
      cells[6] = fmt::format("{:.4g}", facts[row].mean);
      cells[7] = fmt::format("{:.4g}", facts[row].largest);
    });
  }
  std::string datasets;
  for (const std::string& dataset : matrix.datasets()) {
    datasets += (datasets.empty() ? ", from " : ", ") + escape(dataset);
  }
  console.print_line(
      Style::strong,
      fmt::format(
          "{} entries, {} chunks of {} tokens{}", format_digits(facts.size()), matrix.chunk_count(),
          matrix.chunk_size() > 0 ? fmt::format("{}", matrix.chunk_size()) : std::string("unknown"),
          datasets));
  if (!coverage) return;
  console.out().print("{} tensors of the model have data.\n", format_digits(coverage->covered));
  print_names(console, "Without data", coverage->missing);
  print_names(console, "Entries of another size than their tensor", coverage->mismatched);
  print_names(console, "Entries of no tensor of the model", coverage->unmatched);
}

ExitCode show(const Options& options, Console& console, const ImportanceMatrix& matrix) {
  std::vector<ImatrixSummary> facts;
  for (const ImatrixEntry& entry : matrix.entries()) {
    INGOT_CLI_TRY(facts.emplace_back(), matrix.summarize(entry), console, options.files[0]);
  }
  std::optional<Coverage> coverage;
  if (!options.model.empty()) {
    INGOT_CLI_TRY(const Model model, console.open_model(options.model), console, options.model);
    INGOT_CLI_TRY(coverage, cover(matrix, model), console, options.model);
  }
  console.is_json() ? print_json(console, options, matrix, facts, coverage)
                    : print_page(console, matrix, facts, coverage);
  const bool is_short = coverage && (!coverage->missing.empty() || !coverage->mismatched.empty());
  return is_short ? ExitCode::negative : ExitCode::done;
}

/// Refuses an output that is one of the inputs.
bool refuse_inputs(const Options& options, Console& console) {
  std::vector<std::string> inputs = options.files;
  inputs.push_back(options.text.file);
  for (const std::string& file : inputs) {
    if (!is_same_file(options.out, file)) continue;
    console.complain(options.out, "it is an input; the output must be another file");
    return true;
  }
  return false;
}

ExitCode write(const Options& options, Console& console, const ImportanceMatrix& matrix) {
  if (refuse_inputs(options, console)) return ExitCode::usage;
  const bool is_legacy = options.out.ends_with(".dat");
  const Result<void> written = matrix.write(
      options.out, is_legacy ? ImatrixFormat::legacy : ImatrixFormat::gguf, options.is_forced);
  if (!written) return console.fail(options.out, written.error());
  remark_written(console, options.out);
  return ExitCode::done;
}

/// Runs a model on a text and writes the importance of its matrices' inputs.
ExitCode collect(const Options& options, Console& console) {
  const std::string& file = options.files[0];
  // A long run must not end at a file that is in the way.
  if (refuse_inputs(options, console)) return ExitCode::usage;
  const ExitCode code = check_early(options.out, options.is_forced, console);
  if (code != ExitCode::done) return code;
  INGOT_CLI_TRY(const Model model, console.open_model(file), console, file);
  std::string failed;
  INGOT_CLI_TRY(TextChunks text, read_chunks(options.text, model, file, failed, ChunksOf::either),
                console, failed);
  if (const auto& part = options.part.part) {
    INGOT_CLI_TRY(text, part_of_text(text, part->index, part->count), console, options.text.file);
  }
  const Result<ImportanceMatrix> matrix =
      run_chunks(console, file, total_file_bytes(model), text.chunk_count(),
                 [&](const EvaluationOptions& run) {
                   ImportanceOptions importance;
                   importance.run.thread_count = run.thread_count;
                   importance.run.progress = run.progress;
                   importance.dataset = options.text.file;
                   importance.includes_output = options.includes_output;
                   importance.moment_columns = static_cast<std::size_t>(options.moment_columns);
                   importance.has_exact_sums = options.part.part.has_value();
                   return collect_importance(model, text, importance);
                 });
  return matrix ? write(options, console, *matrix) : console.fail(file, matrix.error());
}

/// Checks the arguments of `collect`; returns the fault, or an empty text.
std::string check_collecting(Options& options) {
  if (std::string problem = options.part.resolve(); !problem.empty()) return problem;
  if (options.part.part && (options.moment_columns > 0 || options.out.ends_with(".dat"))) {
    return "a part has exact sums and no second moments, in a .gguf file";
  }
  if (options.files.size() != 1) return "collect takes one MODEL";
  if (options.text.file.empty()) return "--text is missing; it names the text to collect from";
  if (options.moment_columns > 0 && options.out.ends_with(".dat")) {
    return "a .dat file cannot hold second moments; name a .gguf file";
  }
  return options.out.empty() ? "-o is missing; it names the file to write" : std::string();
}

/// Checks the arguments; returns the fault, or an empty text.
std::string check_arguments(Options& options, const Console& console) {
  const bool has_text = !options.text.file.empty() || options.text.chunk_tokens > 0 ||
                        options.text.max_chunks > 0 || options.includes_output ||
                        options.moment_columns > 0 || !options.part.text.empty();
  if (has_text && options.action != Action::collect) {
    return "--text, --ctx-size, --chunks, --part, --process-output and --moments go with collect";
  }
  if (options.action == Action::show) {
    return options.out.empty() ? std::string() : "show writes nothing, so there is no -o";
  }
  if (console.is_json()) return "it reports nothing, so there is no --json";
  if (!options.model.empty()) return "--model goes with show";
  if (options.action == Action::collect) return check_collecting(options);
  // `convert IN OUT`, as other commands have it
  if (options.out.empty() && options.action == Action::convert && options.files.size() == 2) {
    options.out = options.files[1];
    options.files.pop_back();
  }
  if (options.out.empty()) return "-o is missing; it names the file to write";
  if (options.action == Action::convert && options.files.size() > 1) {
    return "convert takes one FILE; merge takes several";
  }
  return {};
}

ExitCode run(Options& options, Console& console) {
  const std::string problem = check_arguments(options, console);
  if (!problem.empty()) return console.refuse_usage("imatrix: " + problem);
  const std::string name = options.action == Action::collect
                               ? base_name(console.remote().local_name(options.files[0])) + "-"
                               : std::string();
  INGOT_CLI_TRY_VOID(resolve_output(options.out, name + "imatrix.gguf"), console, options.out);
  if (options.action == Action::collect) return collect(options, console);
  std::string failed;
  INGOT_CLI_TRY(const ImportanceMatrix matrix, open_all(console, options.files, failed), console,
                failed);
  return options.action == Action::show ? show(options, console, matrix)
                                        : write(options, console, matrix);
}

}  // namespace

void add_imatrix_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      add_command(program, "imatrix",
                  "Show, merge, convert and collect importance matrices for quantizing", examples);
  require(add_choice(command, "ACTION", "ACTION", options->action,
                     {{"show", Action::show},
                      {"merge", Action::merge},
                      {"convert", Action::convert},
                      {"collect", Action::collect}},
                     "What to do: {}"));
  require(add_argument(command, "FILE", options->files,
                       "Importance matrices, GGUF or .dat; for collect a model"));
  add_text(command, "-o,--output", options->out, "OUT", "The file to write");
  add_text(command, "--model", options->model, "MODEL",
           "Compare with the tensors of MODEL, for show");
  add_text_options(command, options->text);
  add_part_options(command, options->part, false);
  add_switch(command, "--process-output", options->includes_output,
             "Collect for the output matrix, too");
  add_number(command, "--moments", options->moment_columns, 1, max_moment_columns,
             "Collect second moments, too, in blocks of N columns, such as 256");
  add_switch(command, "--force", options->is_forced, "Replace OUT if it exists");
  on_run(command, [options, &console] { console.finish(run(*options, console)); });
}

}  // namespace ingot::cli
