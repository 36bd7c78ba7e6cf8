// SPDX-License-Identifier: MIT
#include "commands/ls/listed_model.hpp"

#include <fmt/core.h>

#include <array>
#include <ingot/summary.hpp>
#include <ingot/text.hpp>
#include <string_view>

#include "cli/table.hpp"
#include "text/model_facts.hpp"
#include "text/value_text.hpp"

namespace ingot::cli {
namespace {

std::optional<std::string> owned(const std::optional<std::string_view>& text) {
  return text && !text->empty() ? std::optional<std::string>(*text) : std::nullopt;
}

constexpr std::size_t column_count = 8;
using Row = std::array<std::string, column_count>;

/// The cells of a model; file and name are raw text.
Row row_of(const ListedModel& model) {
  return {model.file,
          model.name.value_or("-"),
          model.architecture.value_or("-"),
          model.parameter_count.value_or(0) > 0 ? format_count(*model.parameter_count) : "-",
          model.type.empty() ? "-" : model.type,
          model.bits_per_weight ? fmt::format("{:.2f}", *model.bits_per_weight) : "-",
          format_bytes(model.file_bytes),
          model.context_length ? format_digits(*model.context_length) : "-"};
}

/// Text as Markdown shows it, in a cell of a table.
std::string markdown_text(std::string_view text) {
  static constexpr std::string_view special = "\\`*[]<>#|&";
  std::string result;
  for (const char c : escape(text)) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

}  // namespace

ListedModel list_model(const std::string& file, const Model& model, const ForeignFile* foreign) {
  const Summary summary = summarize(model);
  ListedModel listed{
      .file = file,
      .name = owned(summary.name),
      .architecture = owned(summary.architecture),
      .parameter_count = summary.parameter_count,
      .type = std::string(file_type_name(summary.file_type.value_or(~0ull))),
      .bits_per_weight = summary.bits_per_weight,
      .file_bytes = foreign != nullptr ? foreign->file_bytes : total_file_bytes(model),
      .context_length = summary.context_length,
      .is_verified = model.is_verified()};
  if (listed.type.empty() && !summary.types.empty()) {
    listed.type = type_text(summary.types.front().type);
  }
  return listed;
}

void print_models(Console& console, std::span<const ListedModel> models) {
  const std::array<Column, column_count> columns = {{{"file", Align::left, Narrow::shorten},
                                                     {"name", Align::left, Narrow::shorten},
                                                     {"architecture", Align::left, Narrow::hide},
                                                     {"params", Align::right},
                                                     {"type"},
                                                     {"bpw", Align::right, Narrow::hide},
                                                     {"size", Align::right},
                                                     {"context", Align::right, Narrow::hide}}};
  print_table(console, columns, models.size(), [&](std::size_t i, std::span<std::string> cells) {
    Row row = row_of(models[i]);
    row[2] = escape(row[2]);
    std::move(row.begin(), row.end(), cells.begin());
  });
}

void print_models_markdown(Console& console, std::span<const ListedModel> models) {
  Output& out = console.out();
  out.write(
      "| File | Name | Architecture | Parameters | Type | Bits per weight | Size | Context |\n");
  out.write("| --- | --- | --- | ---: | --- | ---: | ---: | ---: |\n");
  for (const ListedModel& model : models) {
    for (const std::string& cell : row_of(model)) out.print("| {} ", markdown_text(cell));
    out.write("|\n");
  }
}

}  // namespace ingot::cli
