// SPDX-License-Identifier: MIT
// Writes the rows of files into a catalogue, many files at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "commands/catalog/catalog_file.hpp"
#include "commands/catalog/catalog_record.hpp"

namespace ingot::cli {

/// Rows wait until there are many: each change of the file waits for the disk. Another process may
/// write the same files at the same time; each file then has the rows of one of the two. Not
/// thread-safe.
class CatalogWriter {
 public:
  [[nodiscard]] static Result<CatalogWriter> make(const CatalogFile& file);

  /// Whether the rows of a model are there already.
  [[nodiscard]] Result<bool> has(const CatalogUnit& unit);

  /// Takes the rows of a model, which appear together.
  [[nodiscard]] Result<void> take(std::vector<FileRows> rows);

  /// Writes what waits.
  [[nodiscard]] Result<void> flush();

  /// Removes files with all their rows.
  [[nodiscard]] Result<void> remove(const std::vector<std::string>& paths);

  /// The rows that were written.
  [[nodiscard]] std::uint64_t row_count() const noexcept { return row_count_; }

 private:
  /// Statements for one table: in all of them the id of a file is the first value.
  struct Table {
    Statement insert;
    Statement remove;
  };
  /// A file that has rows; without an id if it has none.
  struct Known {
    Cell id;
    std::string state;
    bool has_digests = false;

    [[nodiscard]] bool exists() const { return id.index() != 0; }
    [[nodiscard]] bool is(const std::string& wanted_state, bool with_digests) const {
      return exists() && !state.empty() && state == wanted_state && (has_digests || !with_digests);
    }
  };
  CatalogWriter(const CatalogFile& file, Statement find, Statement remember, Table files)
      : file_(file),
        find_(std::move(find)),
        remember_(std::move(remember)),
        files_(std::move(files)) {}

  [[nodiscard]] Result<void> write(FileRows& rows);
  [[nodiscard]] Result<void> write(Table& table, std::vector<Row>& rows, const Cell& id);
  [[nodiscard]] Result<void> remove_rows(const Cell& id);
  [[nodiscard]] Result<Known> find(const std::string& path);

  const CatalogFile& file_;
  Statement find_;
  Statement remember_;
  Table files_;
  std::vector<Table> parts_;  ///< keys, tensors, findings
  std::vector<FileRows> waiting_;
  std::size_t waiting_rows_ = 0;
  std::uint64_t row_count_ = 0;
};

}  // namespace ingot::cli
