// SPDX-License-Identifier: MIT
#include "model/open/load.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "base/checked.hpp"
#include "base/large_pages.hpp"
#include "format/header_index.hpp"
#include "format/parse.hpp"
#include "ingot/layout_index.hpp"
#include "io/stream.hpp"

namespace ingot {
namespace {

format::ParseOptions parse_options(const OpenOptions& options, std::uint64_t file_bytes) {
  return {.is_lenient = options.is_lenient,
          .limits = options.limits,
          .file_bytes = std::min(file_bytes, format::unknown_file_bytes)};
}

/// A prefix of a file that grows.
struct Prefix {
  GrowingBytes bytes;
  std::uint64_t size_bytes = 0;

  [[nodiscard]] std::span<const std::byte> span() const noexcept {
    return {bytes.get(), to_size(size_bytes)};
  }
  /// Makes room and returns the bytes to be filled.
  [[nodiscard]] Result<std::span<std::byte>> grow_to(std::uint64_t new_size_bytes) {
    const bool is_addressable = new_size_bytes <= std::numeric_limits<std::size_t>::max();
    void* const grown =
        is_addressable
            ? std::realloc(bytes.get(), to_size(std::max<std::uint64_t>(new_size_bytes, 1)))
            : nullptr;
    if (grown == nullptr) return fail(Errc::out_of_memory, "header");
    static_cast<void>(bytes.release());
    bytes.reset(static_cast<std::byte*>(grown));
    // A large header is filled in half the time.
    prefer_large_pages(bytes.get(), to_size(new_size_bytes));
    return std::span(bytes.get() + size_bytes, to_size(new_size_bytes - size_bytes));
  }
};

/// Appends bytes to a prefix; returns how many there were, fewer only at the end of the file.
using Fill = std::function<Result<std::size_t>(std::uint64_t, std::span<std::byte>)>;

/// The length of the prefix for the next attempt: twice the present one, so that all attempts
/// together are linear in the header. If a read costs a round trip, the expected length, which may
/// be too short and is trusted only twice.
std::uint64_t next_length(std::uint64_t length_bytes, const format::Parsed& parsed, bool expects,
                          int attempt) {
  constexpr int trusted_attempts = 2;
  const std::uint64_t doubled = 2 * length_bytes;
  if (!expects) return std::max(length_bytes + parsed.missing_bytes, doubled);
  const std::uint64_t expected = length_bytes + parsed.expected_bytes;
  return attempt <= trusted_attempts ? expected : std::max(expected, doubled);
}

/// Reads and parses until the structure is complete.
Result<format::Structure> parse_growing(Prefix& prefix, const OpenOptions& options,
                                        std::uint64_t file_bytes, std::uint64_t first_bytes,
                                        const Fill& fill) {
  std::uint64_t wanted_bytes = std::min(first_bytes, file_bytes);
  format::KnownStrings known_strings;
  for (int attempt = 1;; ++attempt) {
    INGOT_TRY(const std::span<std::byte> room, prefix.grow_to(wanted_bytes));
    INGOT_TRY(const std::size_t filled, fill(prefix.size_bytes, room));
    prefix.size_bytes += filled;
    const bool is_at_end = filled != room.size();
    if (is_at_end && !options.is_header_only) file_bytes = prefix.size_bytes;  // now it is known
    format::ParseOptions parsing = parse_options(options, file_bytes);
    parsing.known_strings = &known_strings;
    INGOT_TRY(format::Parsed parsed, format::parse(prefix.span(), parsing));
    if (parsed.is_complete()) return std::move(parsed.structure);
    if (is_at_end) return fail(Errc::truncated, prefix.size_bytes, "header");
    const std::uint64_t needed_bytes = prefix.size_bytes + parsed.missing_bytes;
    const bool expects = first_bytes != usual_first_read_bytes;
    wanted_bytes = std::min(next_length(prefix.size_bytes, parsed, expects, attempt), file_bytes);
    // The last piece may be large only because the limit is not reached yet.
    wanted_bytes = std::min(wanted_bytes, std::max(needed_bytes, options.limits.max_header_bytes));
  }
}

Result<LoadedFile> load_header(const OpenOptions& options, std::uint64_t first_bytes,
                               const Fill& fill) {
  Prefix prefix;
  LoadedFile file;
  INGOT_TRY(file.structure,
            parse_growing(prefix, options, format::unknown_file_bytes, first_bytes, fill));
  file.file_bytes = format::end_of_data(file.structure.header_bytes, file.structure.data_offset,
                                        file.structure.tensors);
  file.header_bytes = std::move(prefix.bytes);
  return file;
}

/// The header of a file that may end behind it.
Result<LoadedFile> load_header_of(const Source& source, const OpenOptions& options) {
  INGOT_TRY(
      LoadedFile file,
      load_header(options, source.first_read_bytes(),
                  [&](std::uint64_t offset, std::span<std::byte> room) -> Result<std::size_t> {
                    const std::uint64_t left = source.size_bytes() - offset;
                    const auto size = to_size(std::min<std::uint64_t>(room.size(), left));
                    INGOT_TRY_VOID(source.read(offset, room.first(size)));
                    return size;
                  }));
  file.file_bytes = std::max(file.file_bytes, source.size_bytes());
  return file;
}

Result<format::Structure> parse_whole(std::span<const std::byte> bytes, const OpenOptions& options,
                                      std::uint64_t file_bytes) {
  INGOT_TRY(format::Parsed parsed, format::parse(bytes, parse_options(options, file_bytes)));
  if (parsed.is_complete()) return std::move(parsed.structure);
  return fail(Errc::internal, "the parser asks for more than the whole file");
}

Error index_ignored(std::string detail) {
  return Error{Errc::index_ignored, Error::no_offset, std::string(layout_index_key),
               std::move(detail)};
}

/// The offset of the last records, which are read together with the tensor infos as long as they
/// are short.
std::uint64_t find_tail(const format::LayoutIndex& index, std::uint64_t first_bytes) {
  std::uint64_t tail_offset = index.infos_offset;
  for (std::size_t i = index.key_offsets.size(); i-- > 0;) {
    if (index.infos_offset - index.key_offsets[i] > format::most_indexed_record_bytes) break;
    tail_offset = index.key_offsets[i];
  }
  return std::max(tail_offset, first_bytes);
}

/// A file read through its index: at most two reads. Nothing if it has none; then, and if the index
/// does not fit, which `notice` tells, it is to be read as a whole.
Result<std::optional<LoadedFile>> load_indexed(const Source& source, const OpenOptions& options,
                                               std::optional<Error>& notice) {
  LoadedFile file;
  file.file_bytes = source.size_bytes();
  const format::ParseOptions parsing = parse_options(options, file.file_bytes);
  const std::span<const std::byte> mapped = source.bytes();
  const bool is_mapped = !mapped.empty() && mapped.size() == file.file_bytes;
  Prefix prefix;
  if (!is_mapped) {
    const std::uint64_t first_bytes = std::min(source.first_read_bytes(), file.file_bytes);
    INGOT_TRY(const std::span<std::byte> room, prefix.grow_to(first_bytes));
    INGOT_TRY_VOID(source.read(0, room));
    prefix.size_bytes = first_bytes;
  }
  const format::FoundIndex found = format::find_index(is_mapped ? mapped : prefix.span(), parsing);
  if (found.is_there && !found.index) notice = index_ignored("it makes no sense");
  if (!found.index) return std::nullopt;
  const format::LayoutIndex& index = *found.index;
  format::HeaderParts parts{{}, index.infos_end(), 0};
  if (is_mapped) {
    parts.header = mapped.first(to_size(index.infos_end()));
  } else {
    parts.first_bytes = prefix.size_bytes;
    parts.tail_offset = find_tail(index, prefix.size_bytes);
    if (index.infos_end() > prefix.size_bytes) {
      // The memory between the parts is never touched.
      INGOT_TRY(const std::span<std::byte> room, prefix.grow_to(index.infos_end()));
      const auto skipped = to_size(parts.tail_offset - prefix.size_bytes);
      INGOT_TRY_VOID(source.read(parts.tail_offset, room.subspan(skipped)));
      file.gap_begin = parts.first_bytes;
      file.gap_end = parts.tail_offset;
      prefix.size_bytes = index.infos_end();
    }
    parts.header = prefix.span().first(to_size(index.infos_end()));
  }
  const auto infos = parts.header.subspan(to_size(index.infos_offset));
  if (format::hash_of_infos(infos) != index.infos_hash) {
    notice = index_ignored("the tensor table is not the one that it was made for");
    return std::nullopt;
  }
  Result<format::Structure> structure = format::parse_indexed(parts, index, parsing);
  if (!structure) {
    notice = index_ignored("it contradicts the header");
    return std::nullopt;
  }
  file.structure = *std::move(structure);
  file.header_bytes = std::move(prefix.bytes);
  return file;
}

}  // namespace

Result<LoadedFile> load_from(const Store& store, const std::string& name,
                             const OpenOptions& options, OpenWay way) {
  if (&store == &file_system()) return load_path(name, options, way);
  INGOT_TRY(std::unique_ptr<Source> source, store.open(name));
  return load(std::move(source), options);
}

Result<LoadedFile> load(std::unique_ptr<Source> source, const OpenOptions& options) {
  if (options.is_header_only) return load_header_of(*source, options);
  LoadedFile file;
  if (options.uses_index) {
    INGOT_TRY(auto indexed, load_indexed(*source, options, file.notice));
    if (indexed) {
      indexed->source = std::move(source);
      return *std::move(indexed);
    }
  }
  file.file_bytes = source->size_bytes();
  if (const auto bytes = source->bytes(); bytes.size() == file.file_bytes) {
    INGOT_TRY(file.structure, parse_whole(bytes, options, file.file_bytes));
  } else {
    Prefix prefix;
    const Fill fill = [&](std::uint64_t offset, std::span<std::byte> room) -> Result<std::size_t> {
      INGOT_TRY_VOID(source->read(offset, room));
      return room.size();
    };
    INGOT_TRY(file.structure,
              parse_growing(prefix, options, file.file_bytes, source->first_read_bytes(), fill));
    file.header_bytes = std::move(prefix.bytes);
  }
  file.source = std::move(source);
  return file;
}

Result<LoadedFile> load_stream(int descriptor, const OpenOptions& options) {
  const Fill fill = [&](std::uint64_t, std::span<std::byte> room) {
    return io::read_stream(descriptor, room);
  };
  if (options.is_header_only) return load_header(options, usual_first_read_bytes, fill);
  Prefix prefix;
  INGOT_TRY_VOID(
      parse_growing(prefix, options, format::unknown_file_bytes, usual_first_read_bytes, fill)
          .transform([](auto&&) {}));
  INGOT_TRY(const std::uint64_t drained_bytes, io::drain_stream(descriptor));
  LoadedFile file;
  file.file_bytes = prefix.size_bytes + drained_bytes;
  // Parses again, as the end of the data is known now.
  INGOT_TRY(file.structure, parse_whole(prefix.span(), options, file.file_bytes));
  file.header_bytes = std::move(prefix.bytes);
  return file;
}

}  // namespace ingot
