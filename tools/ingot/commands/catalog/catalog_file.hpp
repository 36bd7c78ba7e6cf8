// SPDX-License-Identifier: MIT
// The file of a catalogue: a database of SQLite, with its tables and how several processes use it.
#pragma once

#include <cstdint>
#include <ingot/error.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

namespace ingot::cli {

/// A value of a row. Texts are raw bytes, as files have them.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;
using Row = std::vector<Cell>;

/// A number of a file as a cell; one that no integer of SQLite holds is its digits, which a column
/// of integers makes a real number.
[[nodiscard]] Cell number_cell(std::uint64_t number);

/// A statement of SQL that is compiled once. Belongs to the thread that holds its file.
class Statement {
 public:
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  /// Goes on to the next row; false if there is none.
  [[nodiscard]] Result<bool> step();
  /// Runs it from the start with other values.
  [[nodiscard]] Result<bool> step(std::span<const Cell> values);
  /// Ends it before its last row.
  void reset();
  /// Runs it to its end.
  [[nodiscard]] Result<void> run(std::span<const Cell> values = {});

  [[nodiscard]] std::size_t column_count() const;
  [[nodiscard]] std::string column_name(std::size_t column) const;
  /// Whether a table declares the column to hold integers alone.
  [[nodiscard]] bool is_integer_column(std::size_t column) const;
  [[nodiscard]] Cell cell(std::size_t column) const;
  [[nodiscard]] std::string text(std::size_t column) const;
  [[nodiscard]] std::int64_t number(std::size_t column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

/// Whether a catalogue is only looked at.
enum class CatalogAccess : std::uint8_t { read, write };

/// An open catalogue. A process that writes waits for another one that does. What was committed
/// stays whatever happens to the process.
class CatalogFile {
 public:
  /// Opens a catalogue; `write` makes one where there is none. A database of another program is
  /// refused. A request to stop ends the statements of one that is only read.
  [[nodiscard]] static Result<CatalogFile> open(const std::string& path, CatalogAccess access);

  /// Compiles one statement; text behind it is refused.
  [[nodiscard]] Result<Statement> prepare(std::string_view sql) const;
  /// Runs statements that have no rows.
  [[nodiscard]] Result<void> run(const char* sql) const;
  /// Runs `work` as one change of the file: all of it, or nothing.
  template <class Work>
  [[nodiscard]] Result<void> change(const Work& work) const {
    INGOT_TRY_VOID(run("BEGIN IMMEDIATE"));
    Result<void> done = work();
    if (done) done = run("COMMIT");
    if (!done) static_cast<void>(run("ROLLBACK"));
    return done;
  }

  /// The id of the row that was inserted last.
  [[nodiscard]] std::int64_t last_id() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit CatalogFile(sqlite3* database) : database_(database) {}
  [[nodiscard]] Result<void> prepare_tables() const;
  [[nodiscard]] Result<std::int64_t> number_of(const char* sql) const;
  std::unique_ptr<sqlite3, Close> database_;
};

/// The tables that are exported.
inline constexpr std::string_view catalog_tables[] = {"files", "keys", "tensors", "findings",
                                                      "texts"};

}  // namespace ingot::cli
