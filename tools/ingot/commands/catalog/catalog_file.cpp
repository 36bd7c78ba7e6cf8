// SPDX-License-Identifier: MIT
#include "commands/catalog/catalog_file.hpp"

#include <fmt/core.h>
#include <sqlite3.h>

#include <chrono>
#include <filesystem>
#include <limits>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/interrupt.hpp"

namespace ingot::cli {
namespace {

/// "INGC": what makes a database a catalogue, in the header of its file.
constexpr std::int64_t application_id = 0x494e4743;
constexpr std::int64_t schema_version = 1;

/// docs/fleet.md explains the columns. Rows of one file lie side by side, so that they are written
/// and removed in few pages.
constexpr const char* schema = R"(
CREATE TABLE files(id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, size_bytes INTEGER NOT NULL,
  architecture TEXT, verdict TEXT NOT NULL, name TEXT, type TEXT, license TEXT, repository TEXT,
  base_model TEXT, basename TEXT, tokenizer TEXT, template TEXT, weights TEXT, sample TEXT,
  parameters INTEGER, shard INTEGER, shard_count INTEGER, modified_at INTEGER, device INTEGER,
  inode INTEGER, state TEXT);
CREATE INDEX files_by_sample ON files(sample, path);
CREATE TABLE keys(file_id INTEGER NOT NULL, key TEXT NOT NULL, type TEXT NOT NULL, value,
  length INTEGER, digest TEXT, PRIMARY KEY(file_id, key)) WITHOUT ROWID;
CREATE INDEX keys_by_key ON keys(key);
CREATE TABLE tensors(file_id INTEGER NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL,
  shape TEXT NOT NULL, size_bytes INTEGER NOT NULL, digest TEXT,
  PRIMARY KEY(file_id, name)) WITHOUT ROWID;
CREATE TABLE findings(file_id INTEGER NOT NULL, rule TEXT NOT NULL, severity TEXT NOT NULL,
  message TEXT NOT NULL, category TEXT NOT NULL, key TEXT, tensor TEXT, file_offset INTEGER);
CREATE INDEX findings_by_file ON findings(file_id);
CREATE TABLE texts(digest TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE places(path TEXT PRIMARY KEY, has_digests INTEGER NOT NULL) WITHOUT ROWID;
)";

/// A process that holds the file for longer than this is stuck: a batch of files takes a second.
constexpr std::chrono::seconds patience{60};
constexpr std::chrono::milliseconds pause{3};

int wait_for_others(void*, int tries) {
  if (stop_signal() != 0 || tries * pause > patience) return 0;
  std::this_thread::sleep_for(pause);
  return 1;
}

/// Instructions of SQLite between two looks at requests to stop: less than a millisecond.
constexpr int steps_between_looks = 10'000;
int is_stopped(void*) { return stop_signal() != 0 ? 1 : 0; }

/// A catalogue that is looked at opens no other file: SQL of a stranger reaches this one alone.
int forbid_other_files(void*, int action, const char*, const char*, const char*, const char*) {
  return action == SQLITE_ATTACH || action == SQLITE_DETACH ? SQLITE_DENY : SQLITE_OK;
}

Failure failure_of(sqlite3* database) {
  const int code = sqlite3_errcode(database);
  const std::string message = sqlite3_errmsg(database);
  if (code == SQLITE_INTERRUPT || stop_signal() != 0) return fail(Errc::interrupted, {});
  if (code == SQLITE_NOMEM) return fail(Errc::out_of_memory, {});
  if (code == SQLITE_BUSY) {
    return fail(Errc::file_in_use, {}, "another process writes it; try again when it has ended");
  }
  if (code == SQLITE_READONLY || code == SQLITE_AUTH) {
    return fail(Errc::invalid_argument, {}, "a query only reads: " + message);
  }
  const bool is_of_sql = code == SQLITE_ERROR || code == SQLITE_RANGE || code == SQLITE_TOOBIG;
  return fail(is_of_sql ? Errc::invalid_argument : Errc::io_error, {}, message);
}

}  // namespace

Cell number_cell(std::uint64_t number) {
  if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return fmt::format("{}", number);
  }
  return static_cast<std::int64_t>(number);
}

// --- statements ----------------------------------------------------------------------------------

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  Failure failure = failure_of(sqlite3_db_handle(statement_.get()));
  sqlite3_reset(statement_.get());
  return failure;
}

Result<bool> Statement::step(std::span<const Cell> values) {
  sqlite3_stmt* const statement = statement_.get();
  sqlite3_reset(statement);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int place = static_cast<int>(i) + 1;
    if (const auto* number = std::get_if<std::int64_t>(&values[i])) {
      sqlite3_bind_int64(statement, place, *number);
    } else if (const auto* real = std::get_if<double>(&values[i])) {
      sqlite3_bind_double(statement, place, *real);
    } else if (const auto* text = std::get_if<std::string>(&values[i])) {
      // The values outlive the step.
      sqlite3_bind_text64(statement, place, text->data(), text->size(), SQLITE_STATIC, SQLITE_UTF8);
    } else {
      sqlite3_bind_null(statement, place);
    }
  }
  return step();
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

Result<void> Statement::run(std::span<const Cell> values) {
  INGOT_TRY(bool has_row, step(values));
  while (has_row) {
    INGOT_TRY(has_row, step());
  }
  sqlite3_reset(statement_.get());
  return {};
}

std::size_t Statement::column_count() const {
  return static_cast<std::size_t>(sqlite3_column_count(statement_.get()));
}

std::string Statement::column_name(std::size_t column) const {
  const char* const name = sqlite3_column_name(statement_.get(), static_cast<int>(column));
  return name != nullptr ? name : "";
}

bool Statement::is_integer_column(std::size_t column) const {
  const char* const type = sqlite3_column_decltype(statement_.get(), static_cast<int>(column));
  return type != nullptr && std::string_view(type) == "INTEGER";
}

Cell Statement::cell(std::size_t column) const {
  switch (sqlite3_column_type(statement_.get(), static_cast<int>(column))) {
    case SQLITE_NULL:
      return {};
    case SQLITE_INTEGER:
      return number(column);
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement_.get(), static_cast<int>(column));
    default:
      return text(column);
  }
}

std::string Statement::text(std::size_t column) const {
  const void* const bytes = sqlite3_column_blob(statement_.get(), static_cast<int>(column));
  const int size = sqlite3_column_bytes(statement_.get(), static_cast<int>(column));
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

std::int64_t Statement::number(std::size_t column) const {
  return sqlite3_column_int64(statement_.get(), static_cast<int>(column));
}

// --- the file ------------------------------------------------------------------------------------

void CatalogFile::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

Result<CatalogFile> CatalogFile::open(const std::string& path, CatalogAccess access) {
  const bool is_read = access == CatalogAccess::read;
  std::error_code error;
  if (is_read && !std::filesystem::exists(path, error)) {
    return fail(Errc::io_error, {}, "there is no catalogue; 'ingot catalog add' makes one");
  }
  if (const auto folder = std::filesystem::path(path).parent_path(); !is_read && !folder.empty()) {
    std::filesystem::create_directories(folder, error);  // Opening says what is wrong.
  }
  sqlite3* database = nullptr;
  const int flags = is_read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int code = sqlite3_open_v2(path.c_str(), &database, flags, nullptr);
  CatalogFile file(database);
  if (code != SQLITE_OK) return failure_of(database);
  sqlite3_busy_handler(database, wait_for_others, nullptr);
  // A file of a stranger may hold triggers, which do nothing, and views, which only read.
  sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  INGOT_TRY(const std::int64_t things, file.number_of("SELECT count(*) FROM sqlite_schema"));
  INGOT_TRY(const std::int64_t id, file.number_of("PRAGMA application_id"));
  if (id != application_id && (is_read || things != 0)) {
    return fail(Errc::io_error, {}, "it is the database of another program, no catalogue");
  }
  if (!is_read) INGOT_TRY_VOID(file.prepare_tables());
  INGOT_TRY(const std::int64_t version, file.number_of("PRAGMA user_version"));
  if (version != schema_version) {
    return fail(Errc::io_error, {},
                fmt::format("it is a catalogue of another version of Ingot: {} instead of {}",
                            version, schema_version));
  }
  if (is_read) {
    sqlite3_set_authorizer(database, forbid_other_files, nullptr);
    sqlite3_progress_handler(database, steps_between_looks, is_stopped, nullptr);
  }
  return file;
}

Result<std::int64_t> CatalogFile::number_of(const char* sql) const {
  INGOT_TRY(Statement statement, prepare(sql));
  INGOT_TRY(const bool has_row, statement.step());
  return has_row ? statement.number(0) : 0;
}

Result<void> CatalogFile::prepare_tables() const {
  // SQLite does not wait where two processes change the mode of a new file at the same time.
  for (int tries = 0;; ++tries) {
    const Result<std::int64_t> changed = number_of("PRAGMA journal_mode = WAL");
    if (changed) break;
    const bool is_busy = changed.error().code == Errc::file_in_use;
    if (!is_busy || wait_for_others(nullptr, tries) == 0) return fail(changed.error());
  }
  // A kill loses nothing that was committed; a power cut may lose the last of it.
  INGOT_TRY_VOID(
      run("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536;"
          "PRAGMA wal_autocheckpoint = 16384"));
  return change([&]() -> Result<void> {
    INGOT_TRY(const std::int64_t things, number_of("SELECT count(*) FROM sqlite_schema"));
    if (things != 0) return {};
    INGOT_TRY_VOID(run(schema));
    return run(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", application_id,
                           schema_version)
                   .c_str());
  });
}

Result<Statement> CatalogFile::prepare(std::string_view sql) const {
  sqlite3_stmt* statement = nullptr;
  const char* rest = nullptr;
  const int code = sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                      &statement, &rest);
  if (code != SQLITE_OK) return failure_of(database_.get());
  Statement prepared(statement);
  const auto used = static_cast<std::size_t>(rest - sql.data());
  if (statement == nullptr || sql.find_first_not_of(" \t\r\n;", used) != sql.npos) {
    return fail(Errc::invalid_argument, {}, "one statement of SQL is wanted");
  }
  return prepared;
}

Result<void> CatalogFile::run(const char* sql) const {
  if (sqlite3_exec(database_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) {
    return failure_of(database_.get());
  }
  return {};
}

std::int64_t CatalogFile::last_id() const { return sqlite3_last_insert_rowid(database_.get()); }

}  // namespace ingot::cli
