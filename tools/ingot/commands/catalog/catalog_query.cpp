// SPDX-License-Identifier: MIT
#include "commands/catalog/catalog_query.hpp"

#include <fmt/core.h>

#include <ingot/text.hpp>
#include <vector>

#include "cli/interrupt.hpp"
#include "cli/json_stream.hpp"
#include "cli/table.hpp"
#include "commands/catalog/catalog_export.hpp"
#include "commands/catalog/catalog_file.hpp"

namespace ingot::cli {
namespace {

/// Rows that are held at a time, to make the columns of a table as wide as they need to be.
constexpr std::size_t rows_of_a_table = 10'000;

void print_rows(Console& console, const Statement& statement, const std::vector<Row>& rows) {
  std::vector<Column> columns;
  for (std::size_t i = 0; i < statement.column_count(); ++i) {
    const Cell& first = rows.front()[i];
    const bool is_number =
        std::holds_alternative<std::int64_t>(first) || std::holds_alternative<double>(first);
    columns.push_back({escape(statement.column_name(i)), is_number ? Align::right : Align::left,
                       is_number ? Narrow::keep : Narrow::shorten});
  }
  print_table(console, columns, rows.size(), [&](std::size_t i, std::span<std::string> cells) {
    for (std::size_t j = 0; j < cells.size(); ++j) {
      const std::string text =
          std::holds_alternative<std::monostate>(rows[i][j]) ? "-" : cell_text(rows[i][j]);
      // A table escapes what it may shorten; a column that begins with a number may go on with
      // texts.
      cells[j] = columns[j].when_narrow == Narrow::keep ? escape(text) : text;
    }
  });
}

Result<void> print_json(Console& console, Statement& statement) {
  JsonStream json(console.out());
  const auto array = json.array();
  INGOT_TRY(bool has_row, statement.step());
  while (has_row && json.is_open()) {
    {
      const auto object = json.object(Layout::line);
      write_row(json, statement);
    }
    INGOT_TRY(has_row, statement.step());
  }
  return {};
}

Result<void> print_tables(Console& console, Statement& statement) {
  std::vector<Row> rows;
  INGOT_TRY(bool has_row, statement.step());
  while (has_row && console.out().is_open()) {
    Row& row = rows.emplace_back();
    for (std::size_t i = 0; i < statement.column_count(); ++i) row.push_back(statement.cell(i));
    INGOT_TRY(has_row, statement.step());
    if (has_row && rows.size() < rows_of_a_table) continue;
    print_rows(console, statement, rows);
    rows.clear();
  }
  return {};
}

}  // namespace

ExitCode query_catalog(Console& console, const std::string& path, std::string_view sql) {
  const OrderlyStop orderly_stop;
  INGOT_CLI_TRY(const CatalogFile file, CatalogFile::open(path, CatalogAccess::read), console,
                path);
  INGOT_CLI_TRY(Statement statement, file.prepare(sql), console, path);
  INGOT_CLI_TRY_VOID(
      console.is_json() ? print_json(console, statement) : print_tables(console, statement),
      console, path);
  return ExitCode::done;
}

ExitCode list_catalog_duplicates(Console& console, const std::string& path) {
  const ExitCode code = query_catalog(console, path, duplicates_sql);
  if (code != ExitCode::done) return code;
  INGOT_CLI_TRY(const CatalogFile file, CatalogFile::open(path, CatalogAccess::read), console,
                path);
  INGOT_CLI_TRY(
      Statement statement,
      file.prepare(fmt::format(
          "SELECT count(*) FROM ({}) WHERE \"by\" = 'sample' AND same_file = 0", duplicates_sql)),
      console, path);
  INGOT_CLI_TRY(const bool has_row, statement.step(), console, path);
  if (const std::int64_t count = has_row ? statement.number(0) : 0; count != 0) {
    console.remark(
        {}, fmt::format(
                "note: {} of these are the same by a sample alone: tensors of equal names, types "
                "and shapes, and equal bytes in a sample of them; digests were not computed. "
                "`ingot catalog add --digests` of their folders makes sure",
                count));
  }
  return ExitCode::done;
}

}  // namespace ingot::cli
