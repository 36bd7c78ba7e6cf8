// SPDX-License-Identifier: MIT
// `ingot sensitivity MODEL --text FILE` -- how much the error of each tensor matters.

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <ingot/imatrix.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "cli/command.hpp"
#include "cli/early_output.hpp"
#include "cli/model_files.hpp"
#include "cli/table.hpp"
#include "commands/evaluate/evaluation_run.hpp"
#include "commands/sensitivity/sensitivity_file.hpp"
#include "text/model_facts.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot sensitivity F16.gguf --text calibration.txt --chunks 20 -o found.json\n"
    "  ingot quantize F16.gguf small.gguf --target-bpw 3.5 --sensitivity found.json\n"
    "\n"
    "Each matrix is quantized alone, to Q2_K, and the predictions are compared with\n"
    "those of the model as it is. KL is what that costs in nats per token, alpha what\n"
    "a relative error of 1 would. The text must be another one than that of a later\n"
    "evaluation; 8,000 tokens of it are enough. docs/evaluate.md has the details.";

struct Options {
  std::string model;
  std::string out;
  std::string importance;
  TextRequest text;
  bool is_resumed = false;
  bool is_forced = false;
};

/// One run of the command.
class Sensitivity {
 public:
  Sensitivity(const Options& options, Console& console) : options_(options), console_(console) {}

  ExitCode run() {
    if (options_.text.file.empty()) {
      return console_.refuse_usage("sensitivity: --text is missing; it names the text to predict");
    }
    if (options_.is_resumed && options_.out.empty()) {
      return console_.refuse_usage("sensitivity: --resume goes on with a file, which -o names");
    }
    // A long run must not end at a file that is in the way.
    if (const ExitCode code = check_output(); code != ExitCode::done) return code;
    INGOT_CLI_TRY(const Model model, console_.open_model(options_.model), console_, options_.model);
    if (is_same_file(options_.out, options_.model)) return refuse_input();
    std::string failed;
    INGOT_CLI_TRY(const TextChunks text,
                  read_chunks(options_.text, model, options_.model, failed, ChunksOf::either),
                  console_, failed);
    if (!options_.importance.empty()) {
      Result<ImportanceMatrix> matrix = ImportanceMatrix::open(options_.importance);
      INGOT_CLI_TRY_VOID(matrix ? matrix->check_values() : Failure(matrix.error()), console_,
                         options_.importance);
      importance_ = std::move(*matrix);
    }
    facts_ = {.model = options_.model,
              .text = options_.text.file,
              .importance = options_.importance,
              .chunk_count = text.chunk_count(),
              .chunk_tokens = text.chunk_tokens};
    if (const ExitCode code = resume(); code != ExitCode::done) return code;
    return measure(model, text);
  }

 private:
  ExitCode refuse_input() { return console_.refuse_input(options_.out); }

  ExitCode check_output() {
    if (options_.out.empty()) return ExitCode::done;
    for (const std::string& file : {options_.text.file, options_.importance}) {
      if (!file.empty() && is_same_file(options_.out, file)) return refuse_input();
    }
    return check_early(options_.out, options_.is_forced || options_.is_resumed, console_);
  }

  /// What an earlier run has measured.
  ExitCode resume() {
    if (!options_.is_resumed || !std::filesystem::exists(options_.out)) return ExitCode::done;
    auto earlier = read_sensitivity_file(options_.out);
    if (!earlier) return console_.refuse(options_.out, earlier.error(), ExitCode::refused);
    if (!earlier->has_basis_of(facts_)) {
      return console_.refuse(options_.out,
                             "it was measured with another model, text, matrix or chunks; --force "
                             "begins again");
    }
    facts_.tensors = std::move(earlier->tensors);
    return ExitCode::done;
  }

  ExitCode measure(const Model& model, const TextChunks& text) {
    const auto found = run_chunks(
        console_, options_.model, total_file_bytes(model), text.chunk_count(),
        [&](const EvaluationOptions& run) {
          SensitivityOptions settings;
          settings.run = run;
          settings.importance = importance_ ? &*importance_ : nullptr;
          settings.is_known = [&](std::string_view name) {
            return std::ranges::find(facts_.tensors, name, &TensorSensitivity::name) !=
                   facts_.tensors.end();
          };
          settings.measured = [&](const TensorSensitivity& one) { facts_.tensors.push_back(one); };
          return measure_sensitivities(model, text, settings);
        });
    facts_.is_complete = found.has_value();
    if (!found && found.error().code != Errc::interrupted) {
      return console_.fail(options_.model, found.error());
    }
    if (!options_.out.empty()) {
      INGOT_CLI_TRY_VOID(write_sensitivity_file(options_.out, facts_, true), console_,
                         options_.out);
    }
    if (!found) return console_.fail(options_.model, found.error());
    print();
    return ExitCode::done;
  }

  void print() {
    if (console_.is_json()) {
      JsonStream json(console_.out());
      write_sensitivity_json(json, facts_);
      return;
    }
    if (console_.is_quiet()) return;
    const std::vector<Column> columns = {{"tensor", Align::left, Narrow::shorten},
                                         {"KL", Align::right},
                                         {"+/-", Align::right},
                                         {"error", Align::right},
                                         {"alpha", Align::right}};
    print_table(console_, columns, facts_.tensors.size(),
                [&](std::size_t row, std::span<std::string> cells) {
                  const TensorSensitivity& tensor = facts_.tensors[row];
                  cells[0] = tensor.name;
                  cells[1] = fmt::format("{:.6f}", tensor.divergence);
                  cells[2] =
                      facts_.chunk_count < 2 ? "?" : fmt::format("{:.6f}", tensor.divergence_error);
                  cells[3] = fmt::format("{:.3f} %", 100.0 * tensor.relative_error);
                  cells[4] = fmt::format("{:.4f}", tensor.alpha(true));
                });
  }

  const Options& options_;
  Console& console_;
  std::optional<ImportanceMatrix> importance_;
  SensitivityFacts facts_;
};

}  // namespace

void add_sensitivity_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      add_command(program, "sensitivity",
                  "Measure how much the error of each tensor matters, for quantizing", examples);
  require(add_argument(command, "MODEL", options->model, "The original, in F16, BF16 or F32"));
  add_text_options(command, options->text);
  add_text(command, "-o,--output", options->out, "OUT",
           "Write the result to OUT, for quantize --sensitivity");
  add_text(command, "--imatrix", options->importance, "FILE",
           "Importance matrix, as quantize will use it");
  add_switch(command, "--resume", options->is_resumed,
             "Go on with what a stopped run has left in OUT");
  add_switch(command, "--force", options->is_forced, "Replace OUT if it exists");
  on_run(command, [options, &console] { console.finish(Sensitivity(*options, console).run()); });
}

}  // namespace ingot::cli
