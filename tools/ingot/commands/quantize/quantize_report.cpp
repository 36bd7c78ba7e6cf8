// SPDX-License-Identifier: MIT
#include "commands/quantize/quantize_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ingot/text.hpp>
#include <vector>

#include "cli/table.hpp"
#include "commands/json_members.hpp"
#include "commands/output_name.hpp"
#include "text/error_total.hpp"
#include "text/report_file.hpp"
#include "text/value_text.hpp"

namespace ingot::cli {

template <>
inline constexpr bool is_json_row<TargetOutcome> = true;

namespace {

constexpr std::size_t worst_count = 10;

/// The error of a tensor of the plan; nullptr if it has none, or another shard has it.
const TensorError* error_of(const QuantizeFacts& facts, std::size_t i) {
  if (i < facts.first_tensor || i - facts.first_tensor >= facts.errors.size()) return nullptr;
  const TensorError& error = facts.errors[i - facts.first_tensor];
  return error.plain.count == 0 ? nullptr : &error;
}

/// Positions of tensors with an error, the largest relative error first.
std::vector<std::size_t> by_error(const QuantizeFacts& facts) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < facts.plan.tensors.size(); ++i) {
    if (error_of(facts, i) != nullptr) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return error_of(facts, a)->relative() > error_of(facts, b)->relative();
  });
  return order;
}

/// The error of all tensors together.
TensorError total_error(const QuantizeFacts& facts) {
  TensorError total;
  for_each_in_total(
      facts.errors, [](const TensorError& error) { return error.plain; },
      [&](const TensorError& error) { total.add(error); });
  return total;
}

std::string totals_text(const QuantizeFacts& facts) {
  const QuantizePlan& plan = facts.plan;
  return fmt::format("{}: {} tensors, {} weights, {} -> {}, {:.2f} -> {:.2f} bits per weight",
                     facts.type, format_digits(plan.tensors.size()),
                     format_count(plan.element_count), format_bytes(plan.source_bytes),
                     format_bytes(plan.size_bytes), plan.source_bits_per_weight(),
                     plan.bits_per_weight());
}

/// The error of the outputs of a tensor, where second moments tell of it.
std::string output_text(const TensorError& error) {
  const std::optional<double> relative = error.relative_output();
  return relative ? fmt::format("{:.3f}%", 100.0 * *relative) : "-";
}

void write_error(JsonStream& json, const TensorError* error) {
  json.key("error");
  if (error == nullptr) return json.null();
  const auto object = json.object(Layout::line);
  write_members(json, *error);
}

void write_page_row(Output& out, const QuantizeFacts& facts, std::size_t i, double largest) {
  const PlannedTensor& planned = facts.plan.tensors[i];
  const TensorError* error = error_of(facts, i);
  out.print("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td>",
            escape_html(escape(planned.source->name)), type_text(planned.source->type),
            type_text(planned.choice.type), format_bytes(planned.size_bytes));
  if (error != nullptr) {
    const double width = largest > 0.0 ? 100.0 * error->relative() / largest : 0.0;
    out.print(
        "<td class=\"bar\"><i style=\"width:{:.1f}%\"></i>{:.3f}%</td><td>{:.2f}</td>"
        "<td>{:.4g}</td><td>{:.4g}</td><td>{:.4f}</td><td>{}</td>",
        width, 100.0 * error->relative(), error->plain.sqnr_db(), error->plain.rmse(),
        error->plain.largest, error->slope(), output_text(*error));
  } else {
    out.write("<td></td><td></td><td></td><td></td><td></td><td></td>");
  }
  out.print("<td>{}</td></tr>\n", escape_html(escape(planned.explanation)));
}

void write_page_body(Output& out, const QuantizeFacts& facts) {
  out.print("<p>{}</p>\n", escape_html(totals_text(facts)));
  const TensorError total = total_error(facts);
  if (total.plain.count > 0) {
    out.print(
        "<p>All quantized tensors: relative error {:.3f}%, SQNR {:.2f} dB, RMSE {:.4g}.</p>\n",
        100.0 * total.relative(), total.plain.sqnr_db(), total.plain.rmse());
  }
  out.write(
      "<table><thead><tr><th>tensor</th><th>from</th><th>to</th><th>size</th><th>relative "
      "error</th><th>SQNR "
      "dB</th><th>RMSE</th><th>largest</th><th>slope</th><th>output "
      "error</th><th>why</th></tr></thead>"
      "<tbody>\n");
  std::vector<std::size_t> order = by_error(facts);
  const double largest = order.empty() ? 0.0 : error_of(facts, order[0])->relative();
  for (std::size_t i = 0; i < facts.plan.tensors.size(); ++i) {
    if (error_of(facts, i) == nullptr) order.push_back(i);
  }
  for (const std::size_t i : order) write_page_row(out, facts, i, largest);
  out.write("</tbody></table>\n");
}

}  // namespace

void write_quantize_json(JsonStream& json, const QuantizeFacts& facts) {
  const auto object = json.object();
  json.member("file", facts.file);
  json.text_or_null("output", facts.out);
  json.member("type", facts.type);
  write_members(json, facts.plan);
  json.member("file_size", facts.file_bytes);
  const TensorError total = total_error(facts);
  write_error(json, total.plain.count > 0 ? &total : nullptr);
  json.objects("tensors", facts.plan.tensors.size(), [&](std::size_t i) {
    write_members(json, facts.plan.tensors[i]);
    write_error(json, error_of(facts, i));
  });
}

void print_plan(Console& console, const QuantizeFacts& facts) {
  const std::vector<Column> columns = {{"tensor", Align::left, Narrow::shorten},
                                       {"shape", Align::left, Narrow::hide},
                                       {"from", Align::left, Narrow::hide},
                                       {"to", Align::left},
                                       {"size", Align::right},
                                       {"why", Align::left, Narrow::wrap}};
  const auto make_row = [&](std::size_t row, std::span<std::string> cells) {
    const PlannedTensor& planned = facts.plan.tensors[row];
    cells[0] = planned.source->name;
    cells[1] = shape_text(planned.source->shape);
    cells[2] = type_text(planned.source->type);
    cells[3] = type_text(planned.choice.type);
    cells[4] = format_bytes(planned.size_bytes);
    cells[5] = escape(planned.explanation);
  };
  if (!facts.plan.tensors.empty()) {
    print_table(console, columns, facts.plan.tensors.size(), make_row);
  }
  console.print_prose(totals_text(facts), Style::strong);
  console.out().print("The file would have {} ({} bytes).\n", format_bytes(facts.file_bytes),
                      format_digits(facts.file_bytes));
}

void print_result(Console& console, const QuantizeFacts& facts) {
  const std::vector<std::size_t> order = by_error(facts);
  const std::size_t count = std::min(order.size(), worst_count);
  if (count > 0) {
    console.print_line(Style::strong, "The largest errors:");
    std::vector<Column> columns = {{"tensor", Align::left, Narrow::shorten},
                                   {"to", Align::left},
                                   {"error", Align::right},
                                   {"slope", Align::right, Narrow::hide},
                                   {"SQNR dB", Align::right},
                                   {"RMSE", Align::right, Narrow::hide},
                                   {"largest", Align::right, Narrow::hide}};
    const bool has_outputs = std::ranges::any_of(
        facts.errors, [](const TensorError& error) { return error.relative_output().has_value(); });
    if (has_outputs) columns.push_back({"output", Align::right});
    print_table(console, columns, count, [&](std::size_t row, std::span<std::string> cells) {
      const PlannedTensor& planned = facts.plan.tensors[order[row]];
      const TensorError& error = *error_of(facts, order[row]);
      cells[0] = planned.source->name;
      cells[1] = type_text(planned.choice.type);
      cells[2] = fmt::format("{:.3f} %", 100.0 * error.relative());
      cells[3] = fmt::format("{:.4f}", error.slope());
      cells[4] = fmt::format("{:.2f}", error.plain.sqnr_db());
      cells[5] = fmt::format("{:.4g}", error.plain.rmse());
      cells[6] = fmt::format("{:.4g}", error.plain.largest);
      if (has_outputs) cells[7] = output_text(error);
    });
    const TensorError total = total_error(facts);
    console.print_prose(fmt::format("All {} quantized: error {:.3f} %, SQNR {:.2f} dB.",
                                    format_digits(order.size()), 100.0 * total.relative(),
                                    total.plain.sqnr_db()));
  }
  console.print_prose(totals_text(facts), Style::strong);
}

void print_results(Console& console, std::span<const QuantizeFacts> results) {
  const std::vector<Column> columns = {{"type"},
                                       {"size", Align::right},
                                       {"bits", Align::right},
                                       {"error", Align::right},
                                       {"SQNR dB", Align::right, Narrow::hide},
                                       {"file", Align::left, Narrow::shorten}};
  print_table(console, columns, results.size(), [&](std::size_t row, std::span<std::string> cells) {
    const QuantizeFacts& facts = results[row];
    const TensorError total = total_error(facts);
    cells[0] = facts.type;
    cells[1] = format_bytes(facts.file_bytes);
    cells[2] = fmt::format("{:.2f}", facts.plan.bits_per_weight());
    cells[3] = total.plain.count == 0 ? "-" : fmt::format("{:.3f} %", 100.0 * total.relative());
    cells[4] = total.plain.count == 0 ? "-" : fmt::format("{:.2f}", total.plain.sqnr_db());
    cells[5] = facts.out;
  });
}

void print_written(Console& console, std::span<const QuantizedShard> files,
                   std::uint64_t file_bytes) {
  const std::string more =
      files.size() == 1 ? std::string()
                        : fmt::format("{} files, to {}", files.size(), escape(files.back().path));
  console.print_prose(written_text(files.front().path, format_bytes(file_bytes), more));
}

void print_target(Console& console, const QuantizePlan& plan, const QuantizeModelOptions& options) {
  if (!plan.target) return;
  const TargetOutcome& target = *plan.target;
  const double above =
      target.bound > 0.0 ? 100.0 * (target.cost - target.bound) / target.bound : 0.0;
  console.print_prose(fmt::format(
      "Types were chosen by their {}errors on sampled rows of each tensor{}; together they cost "
      "{:.2g} % more than the bound of every choice that fits.",
      options.importance != nullptr ? "importance-weighted " : "",
      options.sensitivities.empty() ? "" : " and its measured sensitivity", above));
  if (options.sensitivities.empty()) return;
  console.print_prose(fmt::format("Expected divergence: {:.2g} nats per token.", target.cost));
}

Result<void> write_quantize_report(const std::string& path, const QuantizeFacts& facts,
                                   bool replace) {
  return write_report_file(path, replace,
                           {escape(name_of_file(facts.file)) + " as " + facts.type,
                            [&](Output& out) { write_page_body(out, facts); },
                            [&](JsonStream& json) { write_quantize_json(json, facts); }});
}

}  // namespace ingot::cli
