// SPDX-License-Identifier: MIT
#include "commands/evaluate/evaluation_output.hpp"

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <ingot/text.hpp>
#include <string_view>

#include "cli/table.hpp"
#include "commands/json_members.hpp"
#include "commands/output_name.hpp"
#include "text/markdown.hpp"

namespace ingot::cli {

template <>
inline constexpr bool is_json_row<DivergenceQuantiles> = true;

namespace {

double percent(double share) { return 100.0 * share; }

double ratio_of(const ModelComparison& other) { return std::exp(other.log_ratio.mean); }

double ratio_error_of(const ModelComparison& other) {
  return ratio_of(other) * other.log_ratio.error;
}

void print_models(Console& console, const EvaluationFacts& facts) {
  const Evaluation& found = facts.evaluation;
  const std::vector<Column> columns = {{"model", Align::left, Narrow::shorten},
                                       {"size", Align::right, Narrow::hide},
                                       {"KL", Align::right},
                                       {"+/-", Align::right},
                                       {"median", Align::right, Narrow::hide},
                                       {"99 %", Align::right, Narrow::hide},
                                       {"same top", Align::right},
                                       {"perplexity", Align::right},
                                       {"ratio", Align::right}};
  print_table(console, columns, facts.files.size(),
              [&](std::size_t row, std::span<std::string> cells) {
                cells[0] = facts.files[row].file;
                cells[1] = format_bytes(facts.files[row].size_bytes);
                if (row == 0) {
                  for (std::size_t i = 2; i < 7; ++i) cells[i] = "-";
                  cells[7] = fmt::format("{:.4f}", found.base.perplexity());
                  cells[8] = "1";
                  return;
                }
                const ModelComparison& other = found.others[row - 1];
                cells[2] = fmt::format("{:.6f}", other.divergence.mean);
                cells[3] = error_text(other.divergence.error, 6);
                cells[4] = fmt::format("{:.6f}", other.quantile(0.5));
                cells[5] = fmt::format("{:.5f}", other.quantile(0.99));
                cells[6] = fmt::format("{:.2f} %", percent(other.same_top.mean));
                cells[7] = fmt::format("{:.4f}", other.score.perplexity());
                cells[8] = fmt::format("{:.5f}", ratio_of(other));
              });
}

void print_differences(Console& console, const EvaluationFacts& facts) {
  const std::size_t count = facts.evaluation.others.size();
  if (count < 2) return;
  console.out().print("\n{}\n", console.paint(Style::strong, "Differences of KL, chunk by chunk"));
  std::vector<std::array<std::size_t, 2>> pairs;
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = a + 1; b < count; ++b) pairs.push_back({a, b});
  }
  const std::vector<Column> columns = {{"model", Align::left, Narrow::shorten},
                                       {"less that of", Align::left, Narrow::shorten},
                                       {"difference", Align::right},
                                       {"+/-", Align::right}};
  print_table(console, columns, pairs.size(), [&](std::size_t row, std::span<std::string> cells) {
    const auto [a, b] = pairs[row];
    const MeanEstimate difference = facts.evaluation.difference(a, b);
    cells[0] = facts.files[a + 1].file;
    cells[1] = facts.files[b + 1].file;
    cells[2] = fmt::format("{:+.6f}", difference.mean);
    cells[3] = error_text(difference.error, 6);
  });
}

void print_chunks(Console& console, const EvaluationFacts& facts) {
  const Evaluation& found = facts.evaluation;
  console.out().print(
      "\n{}\n", console.paint(Style::strong, "By chunk: perplexity of the base, KL of the others"));
  std::vector<Column> columns = {{"chunk", Align::right}, {"base", Align::right}};
  for (std::size_t i = 0; i < found.others.size(); ++i) {
    columns.push_back({facts.files[i + 1].file, Align::right, Narrow::shorten});
  }
  print_table(console, columns, found.chunk_count,
              [&](std::size_t row, std::span<std::string> cells) {
                cells[0] = fmt::format("{}", row + 1);
                cells[1] = fmt::format("{:.4f}", std::exp(found.base.chunk_losses[row]));
                for (std::size_t i = 0; i < found.others.size(); ++i) {
                  cells[i + 2] = fmt::format("{:.6f}", found.others[i].chunk_divergences[row]);
                }
              });
}

/// Writes a score, or a comparison, of a file.
template <class T>
void write_result(JsonStream& json, const EvaluatedFile& file, const T& result) {
  const auto object = json.object();
  json.member("file", file.file);
  json.member("size_bytes", file.size_bytes);
  write_members(json, result);
}

}  // namespace

std::string error_text(double error, int digits) {
  return std::isfinite(error) ? fmt::format("{:.{}f}", error, digits) : std::string("?");
}

std::string with_error(double value, double error, int digits) {
  return fmt::format("{:.{}f} +/- {}", value, digits, error_text(error, digits));
}

std::string basis(const EvaluationFacts& facts, std::string_view text) {
  const Evaluation& found = facts.evaluation;
  return fmt::format("{} scored tokens of {}: {} chunks of {}, the second half of each",
                     format_digits(found.scored_tokens), escape(text),
                     format_digits(found.chunk_count), found.chunk_tokens);
}

void print_evaluation(Console& console, const EvaluationFacts& facts) {
  const ModelScore& base = facts.evaluation.base;
  print_models(console, facts);
  print_differences(console, facts);
  if (facts.has_chunks) print_chunks(console, facts);
  console.out().print("\n{}\n", console.paint(Style::strong, basis(facts, facts.text)));
  console.out().print("perplexity of the base {}\n",
                      with_error(base.perplexity(), base.perplexity_error(), 4));
}

void write_evaluation_json(JsonStream& json, const EvaluationFacts& facts) {
  const Evaluation& found = facts.evaluation;
  const auto object = json.object();
  json.member("text", facts.text);
  write_members<EvaluationCounts>(json, found);
  json.key("base");
  write_result(json, facts.files[0], found.base);
  json.begin_array("others");
  for (std::size_t i = 0; i < found.others.size(); ++i) {
    write_result(json, facts.files[i + 1], found.others[i]);
  }
  json.end();
  const auto differences = json.array("differences");
  for (std::size_t a = 0; a < found.others.size(); ++a) {
    for (std::size_t b = a + 1; b < found.others.size(); ++b) {
      const MeanEstimate difference = found.difference(a, b);
      const auto entry = json.object(Layout::line);
      json.member("file", facts.files[a + 1].file);
      json.member("other", facts.files[b + 1].file);
      JsonMembers members(json);
      describe_estimate(members, "kl", difference, "", "");
    }
  }
}

void print_evaluation_markdown(Console& console, const EvaluationFacts& facts) {
  const Evaluation& found = facts.evaluation;
  Output& out = console.out();
  out.print("| model | size | KL divergence | 99 % | same top token | perplexity | ratio |\n");
  out.print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  out.print("| {} | {} | | | | {:.4f} | 1 |\n", markdown_text(name_of_file(facts.files[0].file)),
            format_bytes(facts.files[0].size_bytes), found.base.perplexity());
  for (std::size_t i = 0; i < found.others.size(); ++i) {
    const ModelComparison& other = found.others[i];
    out.print("| {} | {} | {} | {:.5f} | {:.2f} % | {:.4f} | {} |\n",
              markdown_text(name_of_file(facts.files[i + 1].file)),
              format_bytes(facts.files[i + 1].size_bytes),
              with_error(other.divergence.mean, other.divergence.error, 6), other.quantile(0.99),
              percent(other.same_top.mean), other.score.perplexity(),
              with_error(ratio_of(other), ratio_error_of(other), 5));
  }
  out.print("\n{}, measured by `ingot evaluate`.\n",
            markdown_text(basis(facts, name_of_file(facts.text))));
}

}  // namespace ingot::cli
