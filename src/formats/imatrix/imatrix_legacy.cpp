// SPDX-License-Identifier: MIT
// The older format, .dat: little-endian, no magic.
//
//   int32 entries
//   each: int32 name bytes, name; int32 calls; int32 values; float32 values (mean times calls)
//   optional: int32 chunks; int32 bytes, name of the data set
#include "formats/foreign/file_cursor.hpp"
#include "formats/imatrix/imatrix_state.hpp"

namespace ingot::formats {
namespace {

Failure imatrix_invalid_at(std::uint64_t file_offset, std::string subject, std::string detail) {
  return fail(Errc::imatrix_invalid, file_offset, std::move(subject), std::move(detail));
}

Result<std::int32_t> read_int(FileCursor& cursor, const char* field) {
  INGOT_TRY(const std::uint32_t bits, cursor.read_u32(field));
  return static_cast<std::int32_t>(bits);
}

Result<ImatrixItem> read_entry(FileCursor& cursor, const std::shared_ptr<const ImatrixFile>& file) {
  const std::uint64_t begin = cursor.position();
  INGOT_TRY(const std::int32_t name_bytes, read_int(cursor, "length of a name"));
  if (name_bytes <= 0 || static_cast<std::uint32_t>(name_bytes) > max_imatrix_name_bytes) {
    return imatrix_invalid_at(begin, "length of a name", "found " + std::to_string(name_bytes));
  }
  INGOT_TRY(std::string name, cursor.read_text(static_cast<std::size_t>(name_bytes), "name"));
  INGOT_TRY(const std::int32_t calls, read_int(cursor, "calls"));
  INGOT_TRY(const std::int32_t values, read_int(cursor, "count of values"));
  if (calls < 0)
    return imatrix_invalid_at(begin, std::move(name), std::to_string(calls) + " calls");
  if (values <= 0)
    return imatrix_invalid_at(begin, std::move(name), std::to_string(values) + " values");
  const auto value_count = static_cast<std::uint64_t>(values);
  if (value_count > cursor.remaining() / sizeof(float)) {
    return imatrix_invalid_at(begin, std::move(name),
                              "the file ends before its " + std::to_string(values) + " values");
  }
  ImatrixPart part{.file = file,
                   .values_offset = cursor.position(),
                   .value_count = value_count,
                   .is_legacy = true,
                   .calls = calls};
  cursor.skip(value_count * sizeof(float));
  return ImatrixItem{{.name = std::move(name), .value_count = value_count}, {std::move(part)}};
}

/// The tail holds how much text was used; the oldest writers had none.
Result<void> read_tail(FileCursor& cursor, ImatrixContent& content) {
  if (cursor.remaining() == 0) return {};
  const std::uint64_t begin = cursor.position();
  INGOT_TRY(const std::int32_t chunks, read_int(cursor, "count of chunks"));
  INGOT_TRY(const std::int32_t length, read_int(cursor, "length of the data set's name"));
  constexpr std::int32_t longest = 1 << 16;  // a path
  if (chunks < 0 || length < 0 || length > longest) {
    return imatrix_invalid_at(
        begin, "tail",
        std::to_string(chunks) + " chunks, a name of " + std::to_string(length) + " bytes");
  }
  content.chunk_count = static_cast<std::uint64_t>(chunks);
  INGOT_TRY(std::string dataset,
            cursor.read_text(static_cast<std::size_t>(length), "name of the data set"));
  if (!dataset.empty()) content.datasets.push_back(std::move(dataset));
  return {};
}

}  // namespace

Result<ImatrixContent> parse_legacy_imatrix(std::shared_ptr<ImatrixFile> file) {
  FileCursor cursor(*file->source, Errc::imatrix_invalid);
  ImatrixContent content;
  content.format = ImatrixFormat::legacy;
  if (cursor.remaining() < 4) return fail(Errc::imatrix_unknown, {});
  INGOT_TRY(const std::int32_t entries, read_int(cursor, "count of entries"));
  // The format has no magic, so this and the first entry must tell it from any other file.
  if (entries <= 0 || static_cast<std::uint32_t>(entries) > max_imatrix_entries) {
    return fail(Errc::imatrix_unknown, {});
  }
  for (std::int32_t i = 0; i < entries; ++i) {
    Result<ImatrixItem> item = read_entry(cursor, file);
    if (!item && i == 0 && item.error().code == Errc::imatrix_invalid) {
      return fail(Errc::imatrix_unknown, {}, item.error().message());
    }
    if (!item) return Failure(std::move(item).error());
    content.items.push_back(std::move(*item));
  }
  INGOT_TRY_VOID(read_tail(cursor, content));
  return content;
}

}  // namespace ingot::formats
