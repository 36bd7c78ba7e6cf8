// SPDX-License-Identifier: MIT
#include "model/open/load.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>

#include "format/parse.hpp"
#include "io/stream.hpp"

namespace ingot {
namespace {

format::ParseOptions parse_options(const OpenOptions& options, std::uint64_t file_bytes) {
  return {.is_lenient = options.is_lenient,
          .limits = options.limits,
          .file_bytes = std::min(file_bytes, format::unknown_file_bytes)};
}

/// A large header is filled in half the time if its memory comes in large pages.
void use_large_pages(std::byte* bytes, std::uint64_t size_bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::uint64_t least_bytes = std::uint64_t{4} << 20;
  static const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (size_bytes < least_bytes) return;
  const std::uint64_t skipped =
      (page_bytes - reinterpret_cast<std::uintptr_t>(bytes) % page_bytes) % page_bytes;
  ::madvise(bytes + skipped, static_cast<std::size_t>(size_bytes - skipped), MADV_HUGEPAGE);
#else
  static_cast<void>(bytes);
  static_cast<void>(size_bytes);
#endif
}

/// A prefix of a file that grows.
struct Prefix {
  GrowingBytes bytes;
  std::uint64_t size_bytes = 0;

  [[nodiscard]] std::span<const std::byte> span() const noexcept {
    return {bytes.get(), static_cast<std::size_t>(size_bytes)};
  }
  /// Makes room and returns what is to be filled.
  [[nodiscard]] std::span<std::byte> grow_to(std::uint64_t new_size_bytes) {
    void* const grown = std::realloc(bytes.get(), std::max<std::size_t>(new_size_bytes, 1));
    if (grown == nullptr) throw std::bad_alloc();
    static_cast<void>(bytes.release());
    bytes.reset(static_cast<std::byte*>(grown));
    use_large_pages(bytes.get(), new_size_bytes);
    return {bytes.get() + size_bytes, static_cast<std::size_t>(new_size_bytes - size_bytes)};
  }
};

/// Appends bytes to a prefix; returns how many there were, fewer only at the end of the file.
using Fill = std::function<Result<std::size_t>(std::uint64_t, std::span<std::byte>)>;

/// How long the prefix should be for the next attempt: twice as long as it is, so that all attempts
/// together are linear in the header. Where a read costs a round trip, as long as is expected; that
/// may be too short, and is trusted twice.
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
    const std::span<std::byte> room = prefix.grow_to(wanted_bytes);
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
                    const auto size =
                        static_cast<std::size_t>(std::min<std::uint64_t>(room.size(), left));
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

}  // namespace

Result<LoadedFile> load_path(const std::string& path, const OpenOptions& options,
                             JournalLock lock) {
  const bool is_mapped = options.access == FileAccess::map && !options.is_header_only;
  INGOT_TRY(OpenedFile opened, open_file(path, is_mapped, lock));
  INGOT_TRY(LoadedFile file, load(std::move(opened.source), options));
  file.is_restored = opened.is_restored;
  file.notice = std::move(opened.notice);
  return file;
}

Result<LoadedFile> load_from(const Store& store, const std::string& name,
                             const OpenOptions& options) {
  if (&store == &file_system()) return load_path(name, options);
  INGOT_TRY(std::unique_ptr<Source> source, store.open(name));
  return load(std::move(source), options);
}

Result<LoadedFile> load(std::unique_ptr<Source> source, const OpenOptions& options) {
  if (options.is_header_only) return load_header_of(*source, options);
  LoadedFile file;
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
  // Again, now that the end of the data is known.
  INGOT_TRY(file.structure, parse_whole(prefix.span(), options, file.file_bytes));
  file.header_bytes = std::move(prefix.bytes);
  return file;
}

}  // namespace ingot
