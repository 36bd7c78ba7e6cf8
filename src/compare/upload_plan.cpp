// SPDX-License-Identifier: MIT
#include "ingot/upload_plan.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "base/checked.hpp"
#include "ingot/parallel.hpp"
#include "io/source_pieces.hpp"

namespace ingot {
namespace {

/// A line of a list of chunks is shorter than this; so is a comment.
constexpr std::size_t most_line_bytes = 256;

/// Half of a hash.
struct ChunkKey {
  std::uint64_t first;
  std::uint64_t second;
  [[nodiscard]] auto operator<=>(const ChunkKey&) const = default;
};
struct HashOfKey {
  std::size_t operator()(const ChunkKey& key) const noexcept {
    return static_cast<std::size_t>(key.first);
  }
};

ChunkKey key_of(const XetChunk& chunk) { return {chunk.hash.numbers[0], chunk.hash.numbers[1]}; }

Failure fail_line(std::uint64_t line, std::string detail) {
  Error error{.code = Errc::manifest_invalid, .subject = {}, .detail = std::move(detail)};
  error.line = static_cast<std::uint32_t>(std::min<std::uint64_t>(line, ~std::uint32_t{0}));
  return Failure(std::move(error));
}

Result<XetChunk> parse_chunk(std::string_view text, std::uint64_t line) {
  constexpr std::string_view separator = " : ";
  constexpr std::size_t digit_count = 64;
  const std::optional<XetHash> hash = parse_xet_hash(text.substr(0, digit_count));
  XetChunk chunk;
  if (hash && text.substr(digit_count).starts_with(separator)) {
    const std::string_view size = text.substr(digit_count + separator.size());
    const auto [end, error] =
        std::from_chars(size.data(), size.data() + size.size(), chunk.size_bytes);
    if (error == std::errc() && end == size.data() + size.size() && chunk.size_bytes != 0 &&
        chunk.size_bytes <= most_xet_chunk_bytes) {
      chunk.hash = *hash;
      return chunk;
    }
  }
  return fail_line(line, "a line has 64 digits, \" : \" and a size from 1 to 131072");
}

Result<bool> is_chunk_list(const Source& file) {
  std::array<std::byte, chunk_list_heading.size() + 1> first;
  if (file.size_bytes() < first.size()) return false;
  INGOT_TRY_VOID(file.read(0, first));
  const std::string_view text(reinterpret_cast<const char*>(first.data()), first.size());
  return text.starts_with(chunk_list_heading) && text.ends_with('\n');
}

class UploadPlanner {
 public:
  UploadPlanner(const UploadPlanOptions& options) : options_(options) {}

  Result<UploadPlan> plan(const std::vector<std::string>& paths) {
    INGOT_TRY(const std::vector<std::string> known, files_to_upload(options_.against));
    INGOT_TRY(const std::vector<std::string> files, files_to_upload(paths));
    for (const std::string& path : files) plan_.files.push_back({path, {}, {}, {}});
    INGOT_TRY_VOID(spread(known.size() + files.size(), 1, options_.thread_count,
                          [&](std::uint64_t first, std::uint64_t) {
                            const std::size_t i = to_size(first);
                            const bool is_known = i < known.size();
                            const std::string& path = is_known ? known[i] : files[i - known.size()];
                            Result<void> read = is_known ? read_known(path)
                                                         : read_new(plan_.files[i - known.size()]);
                            if (!read && read.error().subject.empty()) read.error().subject = path;
                            return read;
                          }));
    std::ranges::sort(known_);
    for (UploadFile& file : plan_.files) count(file);
    end_xorb();
    return std::move(plan_);
  }

 private:
  Result<void> read_known(const std::string& path) {
    const XetChunkSink know = [&](const XetChunk& chunk) {
      const std::lock_guard lock(mutex_);
      known_.push_back(key_of(chunk));
    };
    INGOT_TRY(const std::unique_ptr<Source> file, read_file(path));
    INGOT_TRY(const bool is_list, is_chunk_list(*file));
    if (is_list) {
      INGOT_TRY_VOID(read_chunk_list(*file, know));
      return tell(file->size_bytes()) ? Result<void>() : fail(Errc::interrupted, {});
    }
    return hash_file(*file, XetHasher(know)).map([](const XetHash&) {});
  }

  Result<void> read_new(UploadFile& file) {
    INGOT_TRY(const std::unique_ptr<Source> source, read_file(file.path));
    INGOT_TRY(file.hash, hash_file(*source, XetHasher([&](const XetChunk& chunk) {
                file.chunks.push_back(chunk);
              })));
    return {};
  }

  Result<XetHash> hash_file(const Source& file, XetHasher hasher) {
    INGOT_TRY(const bool is_whole,
              io::read_pieces(file, 0, file.size_bytes(),
                              [&](std::span<const std::byte> bytes, std::uint64_t) {
                                hasher.update(bytes);
                                return tell(bytes.size());
                              }));
    if (!is_whole) return fail(Errc::interrupted, {});
    return hasher.finish();
  }

  /// Whether the caller wants to go on after these bytes.
  bool tell(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    done_bytes_ += bytes;
    return !options_.progress || options_.progress(done_bytes_);
  }

  void count(UploadFile& file) {
    for (const XetChunk& chunk : file.chunks) {
      const ChunkKey key = key_of(chunk);
      std::uint64_t UploadBytes::*kind = &UploadBytes::known_bytes;
      if (!std::ranges::binary_search(known_, key)) {
        const bool is_new = sent_.insert(key).second;
        kind = is_new ? &UploadBytes::new_bytes : &UploadBytes::repeated_bytes;
        if (is_new) send(chunk);
      }
      for (UploadBytes* bytes : {&file.bytes, &plan_.total}) {
        bytes->size_bytes += chunk.size_bytes;
        bytes->*kind += chunk.size_bytes;
      }
    }
  }

  void send(const XetChunk& chunk) {
    if (xorb_bytes_ + chunk.size_bytes > most_xorb_bytes || xorb_.size() == most_xorb_chunks)
      end_xorb();
    xorb_.push_back(chunk);
    xorb_bytes_ += chunk.size_bytes;
  }

  void end_xorb() {
    if (xorb_.empty()) return;
    plan_.xorbs.push_back({xorb_hash(xorb_), xorb_bytes_, xorb_.size()});
    xorb_.clear();
    xorb_bytes_ = 0;
  }

  const UploadPlanOptions& options_;
  UploadPlan plan_;
  std::mutex mutex_;
  std::uint64_t done_bytes_ = 0;
  /// Lists of strangers may have keys that no table of hashes would spread.
  std::vector<ChunkKey> known_;
  std::unordered_set<ChunkKey, HashOfKey> sent_;  ///< Hashes that were computed here.
  std::vector<XetChunk> xorb_;                    ///< The chunks of the xorb that is not full.
  std::uint64_t xorb_bytes_ = 0;
};

/// The files below a folder, sorted.
Result<std::vector<std::string>> files_below(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry->path().filename().generic_string().starts_with('.')) {
      entry.disable_recursion_pending();
    } else if (std::error_code ignored; entry->is_regular_file(ignored)) {
      files.push_back(entry->path().generic_string());
    }
  }
  if (error) return fail(Errc::io_error, folder, error.message());
  std::ranges::sort(files);
  return files;
}

}  // namespace

Result<std::vector<std::string>> files_to_upload(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) {
      files.push_back(path);
      continue;
    }
    INGOT_TRY(std::vector<std::string> below, files_below(path));
    std::ranges::move(below, std::back_inserter(files));
  }
  return files;
}

Result<UploadPlan> plan_upload(const std::vector<std::string>& paths,
                               const UploadPlanOptions& options) {
  return UploadPlanner(options).plan(paths);
}

Result<void> read_chunk_list(const Source& list, const XetChunkSink& sink) {
  constexpr std::uint64_t piece_bytes = std::uint64_t{64} << 10;
  std::string text;  // a line that is not complete, and what follows it
  std::uint64_t line = 0;
  for (std::uint64_t done = 0; done < list.size_bytes();) {
    const auto piece = static_cast<std::size_t>(std::min(piece_bytes, list.size_bytes() - done));
    const std::size_t begun = text.size();
    text.resize(begun + piece);
    INGOT_TRY_VOID(list.read(done, std::as_writable_bytes(std::span(text)).subspan(begun)));
    done += piece;
    if (done == list.size_bytes() && !text.ends_with('\n')) text += '\n';
    std::string_view rest = text;
    for (std::size_t end; (end = rest.find('\n')) != rest.npos; rest.remove_prefix(end + 1)) {
      const std::string_view row = rest.substr(0, end);
      if (++line == 1 && row != chunk_list_heading)
        return fail_line(
            line, "a list of chunks begins with \"" + std::string(chunk_list_heading) + "\"");
      if (row.starts_with('#')) continue;
      INGOT_TRY(const XetChunk chunk, parse_chunk(row, line));
      sink(chunk);
    }
    if (rest.size() > most_line_bytes) return fail_line(line + 1, "the line is too long");
    text.erase(0, text.size() - rest.size());
  }
  return {};
}

}  // namespace ingot
