// SPDX-License-Identifier: MIT
// `ingot sensitivity MODEL --text FILE` -- how much the error of each tensor matters.

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <ingot/digest.hpp>
#include <ingot/imatrix.hpp>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "cli/command.hpp"
#include "cli/early_output.hpp"
#include "cli/model_files.hpp"
#include "cli/table.hpp"
#include "commands/evaluate/evaluation_run.hpp"
#include "commands/output_name.hpp"
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
  PartRequest part;
  bool is_resumed = false;
  bool is_forced = false;
};

/// One run of the command.
class Sensitivity {
 public:
  Sensitivity(Options& options, Console& console) : options_(options), console_(console) {}

  ExitCode run() {
    if (options_.text.file.empty()) {
      return console_.refuse_usage("sensitivity: --text is missing; it names the text to predict");
    }
    if (options_.is_resumed && options_.out.empty()) {
      return console_.refuse_usage("sensitivity: --resume goes on with a file, which -o names");
    }
    if (const std::string problem = options_.part.resolve(); !problem.empty()) {
      return console_.refuse_usage("sensitivity: " + problem);
    }
    const std::string name = base_name(console_.remote().local_name(options_.model));
    INGOT_CLI_TRY_VOID(resolve_output(options_.out, name + "-sensitivity.json"), console_,
                       options_.out);
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
    const Model* models[] = {&model};
    const std::string basis = options_.part.part || !options_.part.files.empty()
                                  ? basis_of(models, text, state_of_importance())
                                  : std::string();
    if (!options_.part.files.empty()) return join(model, text, basis);
    if (options_.part.part) {
      facts_.part = options_.part.text;
      facts_.basis = basis;
    }
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

  /// A digest of what quantizing sees of the importances.
  [[nodiscard]] std::string state_of_importance() const {
    if (!importance_) return {};
    Digest digest(DigestAlgorithm::xxh3_128);
    std::vector<float> weights;
    for (const ImatrixEntry& entry : importance_->entries()) {
      weights.resize(static_cast<std::size_t>(entry.value_count));
      if (!importance_->read_weights(entry, 0, weights)) return {};
      digest.update(std::as_bytes(std::span(weights)));
    }
    return digest.finish();
  }

  /// The positions of matrices, of which the parts take turns: layers cost the less, the further
  /// back they are.
  [[nodiscard]] static std::map<std::string, std::size_t, std::less<>> number(const Model& model) {
    std::map<std::string, std::size_t, std::less<>> numbers;
    for (const TensorInfo& tensor : model.tensors()) {
      if (tensor.shape.size() > 1) numbers.emplace(tensor.name, numbers.size());
    }
    return numbers;
  }

  /// Makes one result of all parts, in the order of one run.
  ExitCode join(const Model& model, const TextChunks& text, const std::string& basis) {
    const std::vector<std::string>& files = options_.part.files;
    std::vector<bool> seen(files.size());
    std::map<std::string, TensorSensitivity, std::less<>> found;
    for (const std::string& file : files) {
      auto facts = read_sensitivity_file(file);
      if (!facts) return console_.refuse(file, facts.error(), ExitCode::refused);
      const auto part = parse_shard_part(facts->part);
      std::string problem = !part ? std::string("it is no part, which --part makes")
                                  : add_part(seen, part->index + 1, part->count);
      if (problem.empty() && facts->basis != basis) {
        problem = "it was measured with another model, text, matrix or chunks";
      }
      if (problem.empty() && !facts->is_complete) {
        problem = "its run was stopped; --resume goes on with it";
      }
      if (!problem.empty()) return console_.refuse(file, problem);
      for (TensorSensitivity& tensor : facts->tensors) found[tensor.name] = std::move(tensor);
    }
    SensitivityOptions settings;
    settings.is_known = [&](std::string_view name) {
      if (const auto tensor = found.find(name); tensor != found.end()) {
        facts_.tensors.push_back(tensor->second);
      }
      return true;
    };
    INGOT_CLI_TRY_VOID(measure_sensitivities(model, text, settings), console_, options_.model);
    return finish();
  }

  ExitCode measure(const Model& model, const TextChunks& text) {
    const auto numbers = number(model);
    const auto is_elsewhere = [&](std::string_view name) {
      const std::optional<ShardPart>& part = options_.part.part;
      const auto found = numbers.find(name);
      return part && (found == numbers.end() || found->second % part->count != part->index);
    };
    const auto found = run_chunks(
        console_, options_.model, total_file_bytes(model), text.chunk_count(),
        [&](const EvaluationOptions& run) {
          SensitivityOptions settings;
          settings.run = run;
          settings.importance = importance_ ? &*importance_ : nullptr;
          settings.is_known = [&](std::string_view name) {
            return is_elsewhere(name) ||
                   std::ranges::find(facts_.tensors, name, &TensorSensitivity::name) !=
                       facts_.tensors.end();
          };
          settings.measured = [&](const TensorSensitivity& one) { facts_.tensors.push_back(one); };
          return measure_sensitivities(model, text, settings);
        });
    if (!found && found.error().code != Errc::interrupted) {
      return console_.fail(options_.model, found.error());
    }
    if (found) return finish();
    if (!options_.out.empty()) {
      INGOT_CLI_TRY_VOID(write_sensitivity_file(options_.out, facts_, true), console_,
                         options_.out);
    }
    return console_.fail(options_.model, found.error());
  }

  ExitCode finish() {
    facts_.is_complete = true;
    if (!options_.out.empty()) {
      INGOT_CLI_TRY_VOID(write_sensitivity_file(options_.out, facts_, true), console_,
                         options_.out);
      remark_written(console_, options_.out);
    }
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

  Options& options_;
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
  add_part_options(command, options->part, true);
  add_switch(command, "--resume", options->is_resumed,
             "Go on with what a stopped run has left in OUT");
  add_switch(command, "--force", options->is_forced, "Replace OUT if it exists");
  on_run(command, [options, &console] { console.finish(Sensitivity(*options, console).run()); });
}

}  // namespace ingot::cli
