// SPDX-License-Identifier: MIT
// `ingot evaluate BASE OTHER... --text FILE` -- what a quantization costs.

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "cli/early_output.hpp"
#include "cli/model_files.hpp"
#include "commands/evaluate/evaluation_output.hpp"
#include "commands/evaluate/evaluation_page.hpp"
#include "commands/evaluate/evaluation_run.hpp"
#include "text/model_facts.hpp"

namespace ingot::cli {
namespace {

constexpr const char* examples =
    "Examples:\n"
    "  ingot evaluate F16.gguf Q4_K_M.gguf Q3_K_M.gguf --text wiki.txt\n"
    "  ingot evaluate model.gguf --text wiki.txt --chunks 20    # perplexity alone\n"
    "  ingot evaluate F16.gguf Q*.gguf --text wiki.txt --markdown >>README.md\n"
    "\n"
    "KL is the divergence of the predictions of OTHER from those of BASE, in nats per\n"
    "token: 0 if they are equal. The models run here, in float32, on all cores; BASE\n"
    "runs once for all others. Every +/- is a standard error. docs/evaluate.md has\n"
    "the rules of counting and the architectures.";

struct Options {
  std::string base;
  std::vector<std::string> others;
  TextRequest text;
  bool wants_markdown = false;
  bool wants_chunks = false;
  std::string report;
  bool is_forced = false;
};

/// One run of the command.
class Evaluate {
 public:
  Evaluate(const Options& options, Console& console) : options_(options), console_(console) {}

  ExitCode run() {
    if (options_.text.file.empty()) {
      return console_.refuse_usage("evaluate: --text is missing; it names the text to predict");
    }
    if (options_.wants_markdown && console_.is_json()) {
      return console_.refuse_usage("evaluate: give --markdown or --json, not both");
    }
    std::vector<std::string> files = {options_.base};
    files.insert(files.end(), options_.others.begin(), options_.others.end());
    if (const ExitCode code = check_report(files); code != ExitCode::done) return code;
    for (const std::string& file : files) {
      INGOT_CLI_TRY(Model model, console_.open_model(file), console_, file);
      files_.push_back({file, total_file_bytes(model)});
      models_.push_back(std::move(model));
    }
    return evaluate_models();
  }

 private:
  /// Reports errors early that would otherwise appear at the end of the work.
  ExitCode check_report(const std::vector<std::string>& files) {
    if (options_.report.empty()) return ExitCode::done;
    const auto is_report = [&](const std::string& file) {
      return is_same_file(options_.report, file);
    };
    if (is_report(options_.text.file) || std::ranges::any_of(files, is_report)) {
      return console_.refuse(options_.report, "it is an input; the report must be another file");
    }
    return check_early(options_.report, options_.is_forced, console_);
  }

  ExitCode evaluate_models() {
    std::string failed;
    INGOT_CLI_TRY(const TextChunks text,
                  read_chunks(options_.text, models_[0], options_.base, failed), console_, failed);
    std::vector<const Model*> others;
    std::uint64_t bytes = 0;
    for (const Model& model : models_) {
      if (&model != &models_[0]) others.push_back(&model);
      bytes += total_file_bytes(model);
    }
    const Result<Evaluation> found = run_chunks(
        console_, options_.base, bytes, text.chunk_count(), [&](const EvaluationOptions& options) {
          return evaluate(models_[0], others, text, options);
        });
    if (!found) return fail(found.error());
    const EvaluationFacts facts = {files_, options_.text.file, *found, options_.wants_chunks};
    print(facts);
    if (options_.report.empty()) return ExitCode::done;
    const auto written = write_evaluation_report(options_.report, facts, options_.is_forced);
    return written ? ExitCode::done : console_.fail(options_.report, written.error());
  }

  /// An error of another model names its file.
  ExitCode fail(const Error& error) {
    return console_.fail(error.context.empty() ? options_.base : error.context.back(), error);
  }

  void print(const EvaluationFacts& facts) {
    if (console_.is_json()) {
      JsonStream json(console_.out());
      write_evaluation_json(json, facts);
    } else if (options_.wants_markdown) {
      print_evaluation_markdown(console_, facts);
    } else {
      print_evaluation(console_, facts);
    }
  }

  const Options& options_;
  Console& console_;
  std::vector<EvaluatedFile> files_;
  std::deque<Model> models_;  // the base first
};

}  // namespace

void add_evaluate_command(CLI::App& program, Console& console) {
  auto options = std::make_shared<Options>();
  CLI::App& command =
      add_command(program, "evaluate",
                  "Measure how far quantized models diverge from their original", examples);
  require(add_argument(command, "BASE", options->base, "The original, in F16, BF16, F32 or Q8_0"));
  add_argument(command, "OTHER", options->others, "Models to compare with it");
  add_text_options(command, options->text);
  add_switch(command, "--markdown", options->wants_markdown, "Print a table for a model card");
  add_switch(command, "--by-chunk", options->wants_chunks, "Print the figures of every chunk, too");
  add_text(command, "--report", options->report, "FILE",
           "Write all figures: a page if FILE ends in .html, else JSON");
  add_switch(command, "--force", options->is_forced, "Replace the report if it exists");
  on_run(command, [options, &console] { console.finish(Evaluate(*options, console).run()); });
}

}  // namespace ingot::cli
