// SPDX-License-Identifier: MIT
#include "commands/catalog/catalog_writer.hpp"

#include <fmt/core.h>

#include <array>
#include <utility>

namespace ingot::cli {
namespace {

/// What is written as one change: some ten megabytes, in a fraction of a second.
constexpr std::size_t most_waiting_files = 512;
constexpr std::size_t most_waiting_rows = 100'000;

}  // namespace

Result<CatalogWriter> CatalogWriter::make(const CatalogFile& file) {
  const auto prepare = [&](std::string_view name, std::string_view id) -> Result<Table> {
    INGOT_TRY(const Statement all, file.prepare(fmt::format("SELECT * FROM {}", name)));
    std::string places;
    for (std::size_t i = 0; i < all.column_count(); ++i) places += places.empty() ? "?" : ",?";
    INGOT_TRY(Statement insert,
              file.prepare(fmt::format("INSERT OR REPLACE INTO {} VALUES({})", name, places)));
    INGOT_TRY(Statement remove, file.prepare(fmt::format("DELETE FROM {} WHERE {}=?", name, id)));
    return Table{std::move(insert), std::move(remove)};
  };
  INGOT_TRY(Statement find,
            file.prepare("SELECT id, state, weights IS NOT NULL OR verdict='refused' FROM files "
                         "WHERE path=?"));
  INGOT_TRY(Statement remember, file.prepare("INSERT OR IGNORE INTO texts VALUES(?,?)"));
  INGOT_TRY(Table files, prepare("files", "id"));
  CatalogWriter writer(file, std::move(find), std::move(remember), std::move(files));
  for (const char* const name : {"keys", "tensors", "findings"}) {
    INGOT_TRY(Table table, prepare(name, "file_id"));
    writer.parts_.push_back(std::move(table));
  }
  return writer;
}

Result<CatalogWriter::Known> CatalogWriter::find(const std::string& path) {
  const Cell name = path;
  INGOT_TRY(const bool is_there, find_.step({&name, 1}));
  if (!is_there) return Known{};
  Known known = {find_.cell(0), find_.text(1), find_.number(2) != 0};
  find_.reset();  // else it would hold the file as it is now
  return known;
}

Result<bool> CatalogWriter::has(const CatalogUnit& unit) {
  INGOT_TRY(const Known known, find(unit.files.empty() ? unit.path : unit.files.front()));
  return known.is(unit.state, unit.with_digests);
}

Result<void> CatalogWriter::take(std::vector<FileRows> rows) {
  for (FileRows& file : rows) {
    waiting_rows_ += file.keys.size() + file.tensors.size() + file.findings.size() + 1;
    waiting_.push_back(std::move(file));
  }
  const bool is_much = waiting_.size() >= most_waiting_files || waiting_rows_ >= most_waiting_rows;
  return is_much ? flush() : Result<void>();
}

Result<void> CatalogWriter::flush() {
  if (waiting_.empty()) return {};
  std::vector<FileRows> files = std::exchange(waiting_, {});
  waiting_rows_ = 0;
  return file_.change([&]() -> Result<void> {
    for (FileRows& file : files) INGOT_TRY_VOID(write(file));
    return {};
  });
}

Result<void> CatalogWriter::write(FileRows& rows) {
  INGOT_TRY(const Known known, find(rows.path));
  if (known.is(rows.state, rows.has_digests)) return {};  // another process wrote it meanwhile
  if (known.exists()) INGOT_TRY_VOID(remove_rows(known.id));
  rows.file[0] = known.id;
  INGOT_TRY_VOID(files_.insert.run(rows.file));
  const Cell id = known.exists() ? known.id : Cell(file_.last_id());
  INGOT_TRY_VOID(write(parts_[0], rows.keys, id));
  INGOT_TRY_VOID(write(parts_[1], rows.tensors, id));
  INGOT_TRY_VOID(write(parts_[2], rows.findings, id));
  for (const Row& text : rows.texts) INGOT_TRY_VOID(remember_.run(text));
  ++row_count_;
  return {};
}

Result<void> CatalogWriter::write(Table& table, std::vector<Row>& rows, const Cell& id) {
  for (Row& row : rows) {
    row[0] = id;
    INGOT_TRY_VOID(table.insert.run(row));
  }
  row_count_ += rows.size();
  return {};
}

Result<void> CatalogWriter::remove_rows(const Cell& id) {
  for (Table& table : parts_) INGOT_TRY_VOID(table.remove.run({&id, 1}));
  return files_.remove.run({&id, 1});
}

Result<void> CatalogWriter::remove(const std::vector<std::string>& paths) {
  if (paths.empty()) return {};
  return file_.change([&]() -> Result<void> {
    for (const std::string& path : paths) {
      INGOT_TRY(const Known known, find(path));
      if (known.exists()) INGOT_TRY_VOID(remove_rows(known.id));
    }
    return file_.run(
        "DELETE FROM texts WHERE digest NOT IN (SELECT digest FROM keys WHERE digest IS NOT NULL)");
  });
}

}  // namespace ingot::cli
