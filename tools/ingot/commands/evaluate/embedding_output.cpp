// SPDX-License-Identifier: MIT
#include "commands/evaluate/embedding_output.hpp"

#include <fmt/core.h>

#include <ingot/text.hpp>

#include "cli/table.hpp"
#include "commands/json_members.hpp"
#include "commands/output_name.hpp"
#include "text/markdown.hpp"
#include "text/report_file.hpp"

namespace ingot::cli {
namespace {

std::string share_text(const std::optional<double>& share) {
  return share ? fmt::format("{:.2f} %", 100.0 * *share) : std::string("-");
}

std::string order_text(const std::optional<double>& order) {
  return order ? fmt::format("{:.5f}", *order) : std::string("-");
}

std::string basis(const EmbeddingFacts& facts, std::string_view text) {
  const EmbeddingEvaluation& found = facts.evaluation;
  return fmt::format("{} chunks of {} tokens of {}, vectors of {} elements, pooling {}",
                     format_digits(found.chunk_count), found.chunk_tokens, escape(text),
                     found.vector_size, found.pooling);
}

void print_differences(Console& console, const EmbeddingFacts& facts) {
  const std::size_t count = facts.evaluation.others.size();
  if (count < 2) return;
  console.out().print("\n{}\n",
                      console.paint(Style::strong, "Differences of 1 - cosine, chunk by chunk"));
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = a + 1; b < count; ++b) {
      const MeanEstimate difference = facts.evaluation.difference(a, b);
      console.out().print("{} less that of {}: {:+.8f} +/- {}\n", escape(facts.files[a + 1].file),
                          escape(facts.files[b + 1].file), difference.mean,
                          error_text(difference.error, 8));
    }
  }
}

void print_chunks(Console& console, const EmbeddingFacts& facts) {
  console.out().print("\n{}\n", console.paint(Style::strong, "1 - cosine by chunk"));
  const EmbeddingEvaluation& found = facts.evaluation;
  std::vector<Column> columns = {{"chunk", Align::right}};
  for (std::size_t i = 0; i < found.others.size(); ++i) {
    columns.push_back({facts.files[i + 1].file, Align::right, Narrow::shorten});
  }
  print_table(console, columns, found.chunk_count,
              [&](std::size_t row, std::span<std::string> cells) {
                cells[0] = fmt::format("{}", row + 1);
                for (std::size_t i = 0; i < found.others.size(); ++i) {
                  cells[i + 1] = fmt::format("{:.8f}", found.others[i].chunk_distances[row]);
                }
              });
}

}  // namespace

void print_embeddings(Console& console, const EmbeddingFacts& facts) {
  const std::vector<Column> columns = {{"model", Align::left, Narrow::shorten},
                                       {"size", Align::right, Narrow::hide},
                                       {"1 - cosine", Align::right},
                                       {"+/-", Align::right},
                                       {"same neighbour", Align::right},
                                       {"order", Align::right}};
  print_table(console, columns, facts.files.size(),
              [&](std::size_t row, std::span<std::string> cells) {
                cells[0] = facts.files[row].file;
                cells[1] = format_bytes(facts.files[row].size_bytes);
                for (std::size_t i = 2; i < cells.size(); ++i) cells[i] = "-";
                if (row == 0) return;
                const EmbeddingComparison& other = facts.evaluation.others[row - 1];
                cells[2] = fmt::format("{:.8f}", other.distance.mean);
                cells[3] = error_text(other.distance.error, 8);
                cells[4] = share_text(other.same_neighbour);
                cells[5] = order_text(other.neighbour_order);
              });
  print_differences(console, facts);
  if (facts.has_chunks) print_chunks(console, facts);
  console.out().print("\n{}\n", console.paint(Style::strong, basis(facts, facts.text)));
}

void write_embeddings_json(JsonStream& json, const EmbeddingFacts& facts) {
  const EmbeddingEvaluation& found = facts.evaluation;
  const auto object = json.object();
  json.member("text", facts.text);
  JsonMembers members(json);
  describe_counts(members, found);
  const auto add_file = [&](const EvaluatedFile& file) {
    json.member("file", file.file);
    json.member("size_bytes", file.size_bytes);
  };
  json.key("base");
  {
    const auto base = json.object();
    add_file(facts.files[0]);
  }
  json.objects("others", found.others.size(), [&](std::size_t i) {
    add_file(facts.files[i + 1]);
    write_members(json, found.others[i]);
  });
  const auto differences = json.array("differences");
  for (std::size_t a = 0; a < found.others.size(); ++a) {
    for (std::size_t b = a + 1; b < found.others.size(); ++b) {
      const auto entry = json.object(Layout::line);
      json.member("file", facts.files[a + 1].file);
      json.member("other", facts.files[b + 1].file);
      describe_estimate(members, "cosine_distance", found.difference(a, b), "", "");
    }
  }
}

void print_embeddings_markdown(Console& console, const EmbeddingFacts& facts) {
  Output& out = console.out();
  out.print("| model | size | 1 - cosine | same neighbour | order of neighbours |\n");
  out.print("| --- | ---: | ---: | ---: | ---: |\n");
  out.print("| {} | {} | | | |\n", markdown_text(name_of_file(facts.files[0].file)),
            format_bytes(facts.files[0].size_bytes));
  for (std::size_t i = 0; i < facts.evaluation.others.size(); ++i) {
    const EmbeddingComparison& other = facts.evaluation.others[i];
    out.print("| {} | {} | {} | {} | {} |\n", markdown_text(name_of_file(facts.files[i + 1].file)),
              format_bytes(facts.files[i + 1].size_bytes),
              with_error(other.distance.mean, other.distance.error, 8),
              share_text(other.same_neighbour), order_text(other.neighbour_order));
  }
  out.print("\n{}, measured by `ingot evaluate`.\n",
            markdown_text(basis(facts, name_of_file(facts.text))));
}

void write_embeddings_page(Output& out, const EmbeddingFacts& facts) {
  out.print("<p>{}.</p>\n", escape_html(basis(facts, facts.text)));
  out.write(
      "<table><thead><tr><th>model</th><th>size</th><th>1 - cosine</th><th>+/-</th><th>same "
      "neighbour</th><th>order</th></tr></thead><tbody>\n");
  for (std::size_t i = 0; i < facts.files.size(); ++i) {
    out.print("<tr><td>{}</td><td>{}</td>", escape_html(escape(facts.files[i].file)),
              format_bytes(facts.files[i].size_bytes));
    if (i == 0) {
      out.write("<td></td><td></td><td></td><td></td></tr>\n");
      continue;
    }
    const EmbeddingComparison& other = facts.evaluation.others[i - 1];
    out.print("<td>{:.8f}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", other.distance.mean,
              error_text(other.distance.error, 8), share_text(other.same_neighbour),
              order_text(other.neighbour_order));
  }
  out.write(
      "</tbody></table>\n<p>1 - cosine is of the vectors of a chunk and of those of the first "
      "model; every +/- is a standard error.</p>\n");
}

}  // namespace ingot::cli
