// SPDX-License-Identifier: MIT
// `ingot evaluate BASE OTHER... --text FILE` -- what a quantization costs.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <ingot/text.hpp>
#include <memory>
#include <utility>

#include "cli/early_output.hpp"
#include "cli/model_files.hpp"
#include "commands/evaluate/embedding_output.hpp"
#include "commands/evaluate/evaluation_output.hpp"
#include "commands/evaluate/evaluation_part.hpp"
#include "commands/evaluate/evaluation_run.hpp"
#include "text/model_facts.hpp"
#include "text/report_file.hpp"

namespace ingot::cli {
namespace {

std::string name_at(const EvaluationFacts& facts, std::size_t i) {
  return escape_html(escape(facts.files[i].file));
}

void write_base_row(Output& out, const EvaluationFacts& facts) {
  out.print(
      "<tr><td>{}</td><td>{}</td><td></td><td></td><td></td><td></td><td></td>"
      "<td>{:.4f}</td><td>1</td></tr>\n",
      name_at(facts, 0), format_bytes(facts.files[0].size_bytes),
      facts.evaluation.base.perplexity());
}

void write_row(Output& out, const EvaluationFacts& facts, std::size_t i, double largest) {
  const ModelComparison& other = facts.evaluation.others[i];
  const double width = largest > 0.0 ? 100.0 * other.divergence.mean / largest : 0.0;
  out.print(
      "<tr><td>{}</td><td>{}</td><td class=\"bar\"><i style=\"width:{:.1f}%\"></i>{:.6f}</td>",
      name_at(facts, i + 1), format_bytes(facts.files[i + 1].size_bytes), width,
      other.divergence.mean);
  out.print("<td>{}</td><td>{:.6f}</td><td>{:.5f}</td><td>{:.2f} %</td><td>{:.4f}</td>",
            error_text(other.divergence.error, 6), other.quantile(0.5), other.quantile(0.99),
            100.0 * other.same_top.mean, other.score.perplexity());
  out.print("<td>{:.5f}</td></tr>\n", std::exp(other.log_ratio.mean));
}

void write_models(Output& out, const EvaluationFacts& facts) {
  out.write(
      "<table><thead><tr><th>model</th><th>size</th><th>KL</th><th>+/-</th><th>median</th>"
      "<th>99 %</th><th>same top</th><th>perplexity</th><th>ratio</th></tr></thead><tbody>\n");
  double largest = 0.0;
  for (const ModelComparison& other : facts.evaluation.others) {
    largest = std::max(largest, other.divergence.mean);
  }
  write_base_row(out, facts);
  for (std::size_t i = 0; i < facts.evaluation.others.size(); ++i) {
    write_row(out, facts, i, largest);
  }
  out.write("</tbody></table>\n");
}

void write_differences(Output& out, const EvaluationFacts& facts) {
  const std::size_t count = facts.evaluation.others.size();
  if (count < 2) return;
  out.write(
      "<h2>Differences of KL, chunk by chunk</h2>\n<table><thead><tr><th>model</th><th>less that "
      "of</th><th>difference</th><th>+/-</th></tr></thead><tbody>\n");
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = a + 1; b < count; ++b) {
      const MeanEstimate difference = facts.evaluation.difference(a, b);
      out.print("<tr><td>{}</td><td>{}</td><td>{:+.6f}</td><td>{}</td></tr>\n",
                name_at(facts, a + 1), name_at(facts, b + 1), difference.mean,
                error_text(difference.error, 6));
    }
  }
  out.write("</tbody></table>\n");
}

/// A line through the KL of every chunk, in a box of 1000 x 100; `largest` is at its top.
void write_line(Output& out, const ModelComparison& other, const std::string& name, double hue,
                double largest) {
  const std::vector<double>& chunks = other.chunk_divergences;
  out.print("<polyline fill=\"none\" stroke=\"hsl({:.0f} 70% 45%)\" points=\"", hue);
  const double step = 1000.0 / static_cast<double>(std::max<std::size_t>(chunks.size() - 1, 1));
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    out.print("{:.1f},{:.1f} ", static_cast<double>(i) * step, 100.0 * (1.0 - chunks[i] / largest));
  }
  out.print("\"><title>{}</title></polyline>\n", name);
}

void write_chunks(Output& out, const EvaluationFacts& facts) {
  const std::vector<ModelComparison>& others = facts.evaluation.others;
  double largest = 0.0;
  for (const ModelComparison& other : others) {
    for (const double kl : other.chunk_divergences) largest = std::max(largest, kl);
  }
  if (facts.evaluation.chunk_count < 2 || largest <= 0.0) return;
  out.print(
      "<h2>KL by chunk</h2>\n<p>From 0 to {:.6f}, the chunks in the order of the text; the largest "
      "in the mean first:</p>\n<p>",
      largest);
  std::vector<std::size_t> order(others.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::size_t i) { return others[i].divergence.mean; });
  const auto hue_of = [&](std::size_t i) {
    return 360.0 * static_cast<double>(i) / static_cast<double>(others.size());
  };
  for (const std::size_t i : order) {
    out.print("<span style=\"color:hsl({:.0f} 70% 45%)\">&#9632;</span> {} &nbsp; ", hue_of(i),
              name_at(facts, i + 1));
  }
  out.write("</p>\n<svg viewBox=\"0 0 1000 100\" preserveAspectRatio=\"none\">\n");
  for (const std::size_t i : order) {
    write_line(out, others[i], name_at(facts, i + 1), hue_of(i), largest);
  }
  out.write("</svg>\n");
}

void write_body(Output& out, const EvaluationFacts& facts) {
  const ModelScore& base = facts.evaluation.base;
  out.print("<p>{}. Perplexity of the base: {}.</p>\n", escape_html(basis(facts, facts.text)),
            with_error(base.perplexity(), base.perplexity_error(), 4));
  write_models(out, facts);
  write_differences(out, facts);
  write_chunks(out, facts);
  out.write(
      "<p>KL is the divergence of the predictions from those of the first model, in nats per "
      "token; every +/- is a standard error.</p>\n");
}

/// Writes the figures to a file: a page if its name ends in .html or .htm, else JSON.
Result<void> write_report(const std::string& path, const EmbeddingFacts& facts, bool replace) {
  return write_report_file(path, replace,
                           {"Vectors of " + escape(facts.files[0].file),
                            [&](Output& out) { write_embeddings_page(out, facts); },
                            [&](JsonStream& json) { write_embeddings_json(json, facts); }});
}

Result<void> write_report(const std::string& path, const EvaluationFacts& facts, bool replace) {
  return write_report_file(path, replace,
                           {"Quantizations of " + escape(facts.files[0].file),
                            [&](Output& out) { write_body(out, facts); },
                            [&](JsonStream& json) { write_evaluation_json(json, facts); }});
}

constexpr const char* examples =
    "Examples:\n"
    "  ingot evaluate F16.gguf Q4_K_M.gguf Q3_K_M.gguf --text wiki.txt\n"
    "  ingot evaluate model.gguf --text wiki.txt --chunks 20    # perplexity alone\n"
    "  ingot evaluate F16.gguf Q*.gguf --text wiki.txt --markdown >>README.md\n"
    "\n"
    "KL is the divergence of the predictions of OTHER from those of BASE, in nats per\n"
    "token: 0 if they are equal. The models run here, in float32, on all cores; BASE\n"
    "runs once for all others. Every +/- is a standard error. Differences of\n"
    "two KL are taken chunk by chunk: what both share cancels, so that their errors\n"
    "are smaller. docs/evaluate.md has the rules of counting and the architectures.\n"
    "Of embedding models the vectors of the text are compared: 1 less their cosine,\n"
    "0 if they are equal.";

struct Options {
  std::string base;
  std::vector<std::string> others;
  TextRequest text;
  PartRequest part;
  bool wants_markdown = false;
  bool wants_chunks = false;
  std::string report;
  bool is_forced = false;
};

/// One run of the command.
class Evaluate {
 public:
  Evaluate(Options& options, Console& console) : options_(options), console_(console) {}

  ExitCode run() {
    if (options_.text.file.empty()) {
      return console_.refuse_usage("evaluate: --text is missing; it names the text to predict");
    }
    if (options_.wants_markdown && console_.is_json()) {
      return console_.refuse_usage("evaluate: give --markdown or --json, not both");
    }
    if (const std::string problem = options_.part.resolve(); !problem.empty()) {
      return console_.refuse_usage("evaluate: " + problem);
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
    const bool has_vectors = compares_vectors(models_[0], !options_.others.empty());
    std::string failed;
    INGOT_CLI_TRY(const TextChunks whole,
                  read_chunks(options_.text, models_[0], options_.base, failed,
                              has_vectors ? ChunksOf::vectors : ChunksOf::predictions),
                  console_, failed);
    if (!options_.part.files.empty()) return join(whole, has_vectors);
    INGOT_CLI_TRY(const TextChunks text, cut(whole), console_, options_.text.file);
    std::vector<const Model*> others;
    std::uint64_t bytes = 0;
    for (const Model& model : models_) {
      if (&model != &models_[0]) others.push_back(&model);
      bytes += total_file_bytes(model);
    }
    const auto run = [&](const auto& work) {
      return run_chunks(console_, options_.base, bytes, text.chunk_count(),
                        [&](const EvaluationOptions& options) {
                          return work(models_[0], others, text, options);
                        });
    };
    if (has_vectors && options_.part.part) return write_vectors(whole, text);
    if (has_vectors) {
      const Result<EmbeddingEvaluation> found =
          run([](const Model& base, std::span<const Model* const> models, const TextChunks& chunks,
                 const EvaluationOptions& options) {
            return compare_embeddings(base, models, chunks, options);
          });
      if (!found) return fail(found.error());
      return show(EmbeddingFacts{files_, options_.text.file, *found, options_.wants_chunks});
    }
    Result<Evaluation> found = run(evaluate);
    if (!found) return fail(found.error());
    if (options_.part.part) return write_part(whole, *std::move(found), {});
    return show(EvaluationFacts{files_, options_.text.file, *found, options_.wants_chunks});
  }

  ExitCode write_part(const TextChunks& whole, Evaluation found, std::vector<Embeddings> models) {
    JsonStream json(console_.out());
    write_evaluation_part(json, {options_.part.part->index + 1, options_.part.part->count,
                                 basis_of_models(whole), std::move(found), std::move(models)});
    return ExitCode::done;
  }

  /// The vectors of a part of the text, by each model.
  ExitCode write_vectors(const TextChunks& whole, const TextChunks& text) {
    std::vector<Embeddings> vectors;
    for (std::size_t i = 0; i < models_.size(); ++i) {
      const auto compute = [&](const EvaluationOptions& options) {
        return compute_embeddings(models_[i], text, options);
      };
      INGOT_CLI_TRY(Embeddings found,
                    run_chunks(console_, files_[i].file, total_file_bytes(models_[i]),
                               text.chunk_count(), compute),
                    console_, files_[i].file);
      vectors.push_back(std::move(found));
    }
    Evaluation found;
    found.chunk_count = text.chunk_count();
    found.chunk_tokens = text.chunk_tokens;
    return write_part(whole, std::move(found), std::move(vectors));
  }

  [[nodiscard]] Result<TextChunks> cut(const TextChunks& text) const {
    const std::optional<ShardPart>& part = options_.part.part;
    return part ? part_of_text(text, part->index, part->count) : text;
  }

  [[nodiscard]] std::string basis_of_models(const TextChunks& text) const {
    std::vector<const Model*> models;
    for (const Model& model : models_) models.push_back(&model);
    return basis_of(models, text);
  }

  /// Shows what all parts have found.
  ExitCode join(const TextChunks& text, bool has_vectors) {
    const std::vector<std::string>& files = options_.part.files;
    const std::string basis = basis_of_models(text);
    std::vector<Evaluation> parts(files.size());
    std::vector<std::vector<Embeddings>> vectors(files.size());
    std::vector<bool> seen(files.size());
    for (const std::string& file : files) {
      auto part = read_evaluation_part(file);
      if (!part) return console_.refuse(file, part.error(), ExitCode::refused);
      std::string problem = add_part(seen, part->number, part->count);
      if (problem.empty() && part->basis != basis) {
        problem = "it was made of other models, another text or other chunks";
      }
      if (!problem.empty()) return console_.refuse(file, problem);
      parts[part->number - 1] = std::move(part->found);
      vectors[part->number - 1] = std::move(part->models);
    }
    if (has_vectors) return join_vectors(text, vectors);
    INGOT_CLI_TRY(const Evaluation found, join_evaluations(parts), console_, files[0]);
    return show(EvaluationFacts{files_, options_.text.file, found, options_.wants_chunks});
  }

  ExitCode join_vectors(const TextChunks& text, std::vector<std::vector<Embeddings>>& parts) {
    std::vector<Embeddings> models = std::move(parts[0]);
    for (std::size_t i = 1; i < parts.size(); ++i) {
      for (std::size_t m = 0; m < std::min(models.size(), parts[i].size()); ++m) {
        std::ranges::copy(parts[i][m].values, std::back_inserter(models[m].values));
      }
    }
    INGOT_CLI_TRY(const EmbeddingEvaluation found,
                  compare_embeddings(models, text.chunk_count(), text.chunk_tokens), console_,
                  options_.part.files[0]);
    return show(EmbeddingFacts{files_, options_.text.file, found, options_.wants_chunks});
  }

  template <class Facts>
  ExitCode show(const Facts& facts) {
    print(facts);
    if (options_.report.empty()) return ExitCode::done;
    const auto written = write_report(options_.report, facts, options_.is_forced);
    return written ? ExitCode::done : console_.fail(options_.report, written.error());
  }

  /// An error of another model names its file.
  ExitCode fail(const Error& error) {
    return console_.fail(error.context.empty() ? options_.base : error.context.back(), error);
  }

  void print(const EmbeddingFacts& facts) {
    if (console_.is_json()) {
      JsonStream json(console_.out());
      write_embeddings_json(json, facts);
    } else if (options_.wants_markdown) {
      print_embeddings_markdown(console_, facts);
    } else {
      print_embeddings(console_, facts);
    }
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

  Options& options_;
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
  add_part_options(command, options->part, true);
  add_switch(command, "--markdown", options->wants_markdown, "Print a table for a model card");
  add_switch(command, "--by-chunk", options->wants_chunks, "Print the figures of every chunk, too");
  add_text(command, "--report", options->report, "FILE",
           "Write all figures: a page if FILE ends in .html, else JSON");
  add_switch(command, "--force", options->is_forced, "Replace the report if it exists");
  on_run(command, [options, &console] { console.finish(Evaluate(*options, console).run()); });
}

}  // namespace ingot::cli
