// SPDX-License-Identifier: MIT
#include "commands/catalog/catalog_export.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <ingot/output_set.hpp>
#include <ingot/text.hpp>
#include <span>

#include "cli/interrupt.hpp"
#include "commands/catalog/parquet_file.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

/// Writes the rows of a table, and counts them.
Result<std::uint64_t> write_lines(Statement& rows, OutputFile& file) {
  Result<void> written;
  Output out([&](std::string_view text) {
    written = file.write(std::as_bytes(std::span(text)));
    return written ? 0 : EIO;
  });
  std::uint64_t count = 0;
  INGOT_TRY(bool has_row, rows.step());
  for (; has_row && out.is_open(); ++count) {
    JsonStream json(out);
    json.begin_object(Layout::line);
    write_row(json, rows);
    json.end();
    INGOT_TRY(has_row, rows.step());
  }
  out.flush();
  INGOT_TRY_VOID(written);
  return count;
}

Result<std::uint64_t> write_parquet(Statement& rows, OutputFile& file) {
  std::vector<ParquetColumn> columns;
  for (std::size_t i = 0; i < rows.column_count(); ++i) {
    columns.push_back({rows.column_name(i), rows.is_integer_column(i)});
  }
  ParquetFile parquet(file, std::move(columns));
  INGOT_TRY_VOID(parquet.begin());
  std::uint64_t count = 0;
  INGOT_TRY(bool has_row, rows.step());
  for (; has_row; ++count) {
    for (std::size_t i = 0; i < rows.column_count(); ++i) {
      const Cell cell = rows.cell(i);
      const auto* const number = std::get_if<std::int64_t>(&cell);
      // A column of integers takes nothing else, though SQLite may hold a number that is none.
      if (std::holds_alternative<std::monostate>(cell) ||
          (rows.is_integer_column(i) && number == nullptr)) {
        parquet.add_null(i);
      } else if (rows.is_integer_column(i)) {
        parquet.add(i, *number);
      } else {
        const std::string text = cell_text(cell);
        // Engines refuse a file whose texts are not UTF-8.
        parquet.add(i, is_utf8(text) ? text : escape(text));
      }
    }
    INGOT_TRY_VOID(parquet.end_row());
    INGOT_TRY(has_row, rows.step());
  }
  INGOT_TRY_VOID(parquet.end());
  return count;
}

Result<std::uint64_t> export_tables(const CatalogFile& file, const std::string& folder,
                                    CatalogFormat format, bool may_replace) {
  OutputSet outputs(may_replace);
  INGOT_TRY_VOID(outputs.make_folder(folder));
  INGOT_TRY_VOID(file.run("BEGIN"));  // all tables of one moment
  std::uint64_t count = 0;
  const bool is_parquet = format == CatalogFormat::parquet;
  for (const std::string_view table : catalog_tables) {
    INGOT_TRY(Statement rows, file.prepare(fmt::format("SELECT * FROM {}", table)));
    const std::string name = fmt::format("{}.{}", table, is_parquet ? "parquet" : "jsonl");
    INGOT_TRY(OutputFile* const output,
              outputs.add((std::filesystem::path(folder) / name).generic_string(), 0));
    INGOT_TRY(const std::uint64_t written,
              is_parquet ? write_parquet(rows, *output) : write_lines(rows, *output));
    count += written;
  }
  INGOT_TRY_VOID(outputs.commit());
  return count;
}

}  // namespace

std::string cell_text(const Cell& cell) {
  if (const auto* const number = std::get_if<std::int64_t>(&cell))
    return fmt::format("{}", *number);
  if (const auto* const real = std::get_if<double>(&cell)) return format_float(*real);
  const auto* const text = std::get_if<std::string>(&cell);
  return text != nullptr ? *text : std::string();
}

void write_row(JsonStream& json, const Statement& statement) {
  for (std::size_t i = 0; i < statement.column_count(); ++i) {
    const Cell cell = statement.cell(i);
    const std::string name = statement.column_name(i);
    if (const auto* const number = std::get_if<std::int64_t>(&cell)) {
      json.member(name, *number);
    } else if (const auto* const real = std::get_if<double>(&cell)) {
      json.member(name, *real);
    } else if (const auto* const text = std::get_if<std::string>(&cell)) {
      json.text_or_base64(name, *text);
    } else {
      json.member(name, nullptr);
    }
  }
}

ExitCode export_catalog(Console& console, const std::string& path, const std::string& folder,
                        CatalogFormat format, bool may_replace) {
  const OrderlyStop orderly_stop;
  INGOT_CLI_TRY(const CatalogFile file, CatalogFile::open(path, CatalogAccess::read), console,
                path);
  INGOT_CLI_TRY(const std::uint64_t count, export_tables(file, folder, format, may_replace),
                console, path);
  if (console.is_json()) {
    JsonStream json(console.out());
    const auto object = json.object();
    json.member("folder", folder);
    json.member("rows", count);
  } else if (!console.is_quiet()) {
    console.out().print("{}: {}\n", escape(folder), plural(count, "row", "rows"));
  }
  return ExitCode::done;
}

}  // namespace ingot::cli
