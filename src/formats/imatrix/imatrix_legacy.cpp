// SPDX-License-Identifier: MIT
// The older format, .dat: little-endian, no magic.
//
//   int32 entries
//   each: int32 name bytes, name; int32 calls; int32 values; float32 values (mean times calls)
//   optional: int32 chunks; int32 bytes, name of the data set
#include <algorithm>
#include <array>
#include <cstring>

#include "base/byte_order.hpp"
#include "formats/imatrix/imatrix_state.hpp"

namespace ingot::interop {
namespace {

Failure invalid(std::uint64_t file_offset, std::string subject, std::string detail) {
  return fail(Errc::imatrix_invalid, file_offset, std::move(subject), std::move(detail));
}

/// Reads a file from front to back, through a buffer, and jumps over what is not wanted.
class Cursor {
 public:
  explicit Cursor(const Source& source) : source_(source) {}

  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  [[nodiscard]] std::uint64_t remaining() const noexcept {
    return source_.size_bytes() - position_;
  }

  Result<void> read(std::span<std::byte> dst, const char* what) {
    if (dst.size() > remaining()) {
      return invalid(position_, what, "the file ends too early");
    }
    while (!dst.empty()) {
      if (position_ < begin_ || position_ >= begin_ + count_) INGOT_TRY_VOID(fill());
      const std::size_t from = static_cast<std::size_t>(position_ - begin_);
      const std::size_t piece = std::min(dst.size(), count_ - from);
      std::memcpy(dst.data(), &buffer_[from], piece);
      position_ += piece;
      dst = dst.subspan(piece);
    }
    return {};
  }

  Result<std::int32_t> read_int(const char* what) {
    std::array<std::byte, 4> bytes;
    INGOT_TRY_VOID(read(bytes, what));
    return static_cast<std::int32_t>(load_little<std::uint32_t>(bytes.data()));
  }

  Result<std::string> read_text(std::int32_t length, const char* what) {
    std::string text(static_cast<std::size_t>(length), '\0');
    INGOT_TRY_VOID(read(std::as_writable_bytes(std::span(text)), what));
    return text;
  }

  void skip(std::uint64_t bytes) noexcept { position_ += bytes; }

 private:
  Result<void> fill() {
    begin_ = position_;
    count_ = static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size(), remaining()));
    return source_.read(begin_, std::span(buffer_).first(count_));
  }

  const Source& source_;
  std::uint64_t position_ = 0;
  std::uint64_t begin_ = 0;
  std::size_t count_ = 0;
  std::array<std::byte, 4096> buffer_;  // values between the headers are jumped over
};

Result<ImatrixItem> read_entry(Cursor& cursor, const std::shared_ptr<const ImatrixFile>& file) {
  const std::uint64_t begin = cursor.position();
  INGOT_TRY(const std::int32_t name_bytes, cursor.read_int("length of a name"));
  if (name_bytes <= 0 || static_cast<std::uint32_t>(name_bytes) > max_imatrix_name_bytes) {
    return invalid(begin, "length of a name", "found " + std::to_string(name_bytes));
  }
  INGOT_TRY(std::string name, cursor.read_text(name_bytes, "name"));
  INGOT_TRY(const std::int32_t calls, cursor.read_int("calls"));
  INGOT_TRY(const std::int32_t values, cursor.read_int("count of values"));
  if (calls < 0) return invalid(begin, std::move(name), std::to_string(calls) + " calls");
  if (values <= 0) return invalid(begin, std::move(name), std::to_string(values) + " values");
  const auto value_count = static_cast<std::uint64_t>(values);
  if (value_count > cursor.remaining() / sizeof(float)) {
    return invalid(begin, std::move(name),
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
Result<void> read_tail(Cursor& cursor, ImatrixContent& content) {
  if (cursor.remaining() == 0) return {};
  const std::uint64_t begin = cursor.position();
  INGOT_TRY(const std::int32_t chunks, cursor.read_int("count of chunks"));
  INGOT_TRY(const std::int32_t length, cursor.read_int("length of the data set's name"));
  constexpr std::int32_t longest = 1 << 16;  // a path
  if (chunks < 0 || length < 0 || length > longest) {
    return invalid(
        begin, "tail",
        std::to_string(chunks) + " chunks, a name of " + std::to_string(length) + " bytes");
  }
  content.chunk_count = static_cast<std::uint64_t>(chunks);
  INGOT_TRY(std::string dataset, cursor.read_text(length, "name of the data set"));
  if (!dataset.empty()) content.datasets.push_back(std::move(dataset));
  return {};
}

}  // namespace

Result<ImatrixContent> parse_legacy_imatrix(std::shared_ptr<ImatrixFile> file) {
  Cursor cursor(*file->source);
  ImatrixContent content;
  content.format = ImatrixFormat::legacy;
  if (cursor.remaining() < 4) return fail(Errc::imatrix_unknown, {});
  INGOT_TRY(const std::int32_t entries, cursor.read_int("count of entries"));
  // Without a magic, this and the first entry distinguish the format from any other file.
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

}  // namespace ingot::interop
