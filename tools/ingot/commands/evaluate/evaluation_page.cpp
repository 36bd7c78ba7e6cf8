// SPDX-License-Identifier: MIT
#include "commands/evaluate/evaluation_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ingot/text.hpp>

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

}  // namespace

Result<void> write_evaluation_report(const std::string& path, const EvaluationFacts& facts,
                                     bool replace) {
  return write_report_file(path, replace,
                           {"Quantizations of " + escape(facts.files[0].file),
                            [&](Output& out) { write_body(out, facts); },
                            [&](JsonStream& json) { write_evaluation_json(json, facts); }});
}

}  // namespace ingot::cli
