// SPDX-License-Identifier: MIT
// Writes Parquet files of plain values: https://parquet.apache.org/docs/file-format
#pragma once

#include <cstddef>
#include <cstdint>
#include <ingot/output_file.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

struct ParquetColumn {
  std::string name;
  bool is_integer = false;  ///< 64 bits; else UTF-8.
};

/// A file of one table. Every value may be missing, nothing is compressed, and each column of a row
/// group is one page. A row group holds some ten megabytes, which are in memory until it is full.
class ParquetFile {
 public:
  ParquetFile(OutputFile& file, std::vector<ParquetColumn> columns);

  [[nodiscard]] Result<void> begin();
  /// Adds a value to each column, in any order, then `end_row`.
  void add(std::size_t column, std::int64_t number);
  void add(std::size_t column, std::string_view text);
  void add_null(std::size_t column);
  [[nodiscard]] Result<void> end_row();
  [[nodiscard]] Result<void> end();

 private:
  /// A column of the row group in the making.
  struct Chunk {
    std::string is_there;  ///< A bit for each row.
    std::string values;
    std::size_t row_count = 0;
  };

  void add_presence(std::size_t column, bool is_there);
  [[nodiscard]] Result<void> write(std::string_view bytes);
  [[nodiscard]] Result<void> write_group();

  OutputFile& file_;
  std::vector<ParquetColumn> columns_;
  std::vector<Chunk> chunks_;
  std::string groups_;  ///< Row groups as the footer lists them.
  std::size_t group_count_ = 0;
  std::uint64_t offset_ = 0;
  std::uint64_t row_count_ = 0;
  std::size_t group_rows_ = 0;
  std::size_t group_bytes_ = 0;
};

}  // namespace ingot::cli
