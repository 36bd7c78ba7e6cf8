// SPDX-License-Identifier: MIT
// The structs and their field numbers are those of parquet.thrift, in Thrift's compact protocol.
#include "commands/catalog/parquet_file.hpp"

#include <ingot/version.h>

#include <span>
#include <utility>

namespace ingot::cli {
namespace {

constexpr std::string_view magic = "PAR1";
constexpr std::size_t most_group_rows = std::size_t{1} << 17;
constexpr std::size_t most_group_bytes = std::size_t{16} << 20;

void append_varint(std::string& text, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) text += static_cast<char>(number | 0x80);
  text += static_cast<char>(number);
}

void append_little_endian(std::string& text, std::uint64_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i));
}

/// A struct of Thrift in the making; fields by ascending numbers.
class Struct {
 public:
  Struct& i32(int field, std::uint64_t number) { return integer(field, 5, number); }
  Struct& i64(int field, std::uint64_t number) { return integer(field, 6, number); }
  Struct& text(int field, std::string_view text) {
    begin(field, 8);
    append_text(text);
    return *this;
  }
  Struct& object(int field, const Struct& inner) {
    begin(field, 12);
    bytes_ += inner.bytes();
    return *this;
  }
  /// A list of structs, each ended, one after the other.
  Struct& objects(int field, std::size_t count, std::string_view items) {
    begin_list(field, 12, count);
    bytes_ += items;
    return *this;
  }
  Struct& numbers(int field, std::initializer_list<std::uint64_t> numbers) {
    begin_list(field, 5, numbers.size());
    for (const std::uint64_t number : numbers) append_varint(bytes_, 2 * number);
    return *this;
  }
  Struct& texts(int field, std::string_view only) {
    begin_list(field, 8, 1);
    append_text(only);
    return *this;
  }
  [[nodiscard]] std::string bytes() const { return bytes_ + '\0'; }

 private:
  void begin(int field, int type) {
    bytes_ += static_cast<char>((field - last_) << 4 | type);
    last_ = field;
  }
  Struct& integer(int field, int type, std::uint64_t number) {
    begin(field, type);
    append_varint(bytes_, 2 * number);  // zigzag of a number that is not negative
    return *this;
  }
  void append_text(std::string_view text) {
    append_varint(bytes_, text.size());
    bytes_ += text;
  }
  void begin_list(int field, int type, std::size_t count) {
    begin(field, 9);
    if (count < 15) {
      bytes_ += static_cast<char>(count << 4 | static_cast<std::size_t>(type));
    } else {
      bytes_ += static_cast<char>(0xf0 | type);
      append_varint(bytes_, count);
    }
  }

  std::string bytes_;
  int last_ = 0;
};

// Numbers of enums: Type, Encoding.
constexpr std::uint64_t int64_type = 2;
constexpr std::uint64_t byte_array_type = 6;
constexpr std::uint64_t plain = 0;
constexpr std::uint64_t rle = 3;

}  // namespace

ParquetFile::ParquetFile(OutputFile& file, std::vector<ParquetColumn> columns)
    : file_(file), columns_(std::move(columns)), chunks_(columns_.size()) {}

Result<void> ParquetFile::begin() { return write(magic); }

void ParquetFile::add_presence(std::size_t column, bool is_there) {
  Chunk& chunk = chunks_[column];
  if (chunk.row_count % 8 == 0) chunk.is_there += '\0';
  if (is_there) chunk.is_there.back() |= static_cast<char>(1 << chunk.row_count % 8);
  ++chunk.row_count;
}

void ParquetFile::add(std::size_t column, std::int64_t number) {
  add_presence(column, true);
  append_little_endian(chunks_[column].values, static_cast<std::uint64_t>(number), 8);
  group_bytes_ += 8;
}

void ParquetFile::add(std::size_t column, std::string_view text) {
  add_presence(column, true);
  append_little_endian(chunks_[column].values, text.size(), 4);
  chunks_[column].values += text;
  group_bytes_ += 4 + text.size();
}

void ParquetFile::add_null(std::size_t column) { add_presence(column, false); }

Result<void> ParquetFile::end_row() {
  ++row_count_;
  ++group_rows_;
  const bool is_full = group_rows_ == most_group_rows || group_bytes_ >= most_group_bytes;
  return is_full ? write_group() : Result<void>();
}

Result<void> ParquetFile::write(std::string_view bytes) {
  offset_ += bytes.size();
  return file_.write(std::as_bytes(std::span(bytes)));
}

Result<void> ParquetFile::write_group() {
  std::string described;
  const std::uint64_t begin = offset_;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    // The page: levels of definition, one bit each as one run of packed groups of eight; values.
    std::string levels;
    append_varint(levels, chunks_[i].is_there.size() << 1 | 1);
    levels += chunks_[i].is_there;
    std::string page;
    append_little_endian(page, levels.size(), 4);
    page += levels;
    page += chunks_[i].values;
    const Struct data_page = Struct().i32(1, group_rows_).i32(2, plain).i32(3, rle).i32(4, rle);
    const std::string header =
        Struct().i32(1, 0).i32(2, page.size()).i32(3, page.size()).object(5, data_page).bytes();
    const std::uint64_t page_offset = offset_;
    INGOT_TRY_VOID(write(header));
    INGOT_TRY_VOID(write(page));
    const Struct facts = Struct()
                             .i32(1, columns_[i].is_integer ? int64_type : byte_array_type)
                             .numbers(2, {plain, rle})
                             .texts(3, columns_[i].name)
                             .i32(4, 0)  // not compressed
                             .i64(5, group_rows_)
                             .i64(6, offset_ - page_offset)
                             .i64(7, offset_ - page_offset)
                             .i64(9, page_offset);
    described += Struct().i64(2, page_offset).object(3, facts).bytes();
    chunks_[i] = Chunk();
  }
  groups_ += Struct()
                 .objects(1, columns_.size(), described)
                 .i64(2, offset_ - begin)
                 .i64(3, group_rows_)
                 .bytes();
  ++group_count_;
  group_rows_ = 0;
  group_bytes_ = 0;
  return {};
}

Result<void> ParquetFile::end() {
  if (group_rows_ != 0) INGOT_TRY_VOID(write_group());
  std::string elements = Struct().text(4, "table").i32(5, columns_.size()).bytes();
  for (const ParquetColumn& column : columns_) {
    Struct element;
    element.i32(1, column.is_integer ? int64_type : byte_array_type).i32(3, 1).text(4, column.name);
    if (!column.is_integer) element.i32(6, 0);  // UTF8
    elements += element.bytes();
  }
  std::string footer = Struct()
                           .i32(1, 1)
                           .objects(2, columns_.size() + 1, elements)
                           .i64(3, row_count_)
                           .objects(4, group_count_, groups_)
                           .text(6, "ingot " INGOT_VERSION_STRING)
                           .bytes();
  append_little_endian(footer, footer.size(), 4);
  footer += magic;
  return write(footer);
}

}  // namespace ingot::cli
