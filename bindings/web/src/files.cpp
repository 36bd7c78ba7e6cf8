// SPDX-License-Identifier: MIT
// The file system of the web. A read of bytes that are not here fails, and is noted; the host
// fetches them and calls again. So the parser needs no asynchronous reads.
#include "files.hpp"

#include <algorithm>
#include <cstring>
#include <ingot/store.hpp>
#include <map>
#include <memory>
#include <utility>

#include "io/folder_watch.hpp"
#include "io/memory_source.hpp"
#include "io/plain_file.hpp"
#include "model/open/load.hpp"

namespace ingot {
namespace web {
namespace {

struct File {
  std::string name;
  std::uint64_t size_bytes = 0;
  std::uint64_t first_read_bytes = 0;
  std::map<std::uint64_t, std::vector<std::byte>> ranges;  ///< By their offsets.
};

std::vector<File> files;
std::vector<MissingRange> missing;

/// Copies what is here; returns how much.
std::size_t copy_range(const File& file, std::uint64_t offset, std::span<std::byte> destination) {
  std::size_t done = 0;
  while (done < destination.size()) {
    const std::uint64_t at = offset + done;
    auto range = file.ranges.upper_bound(at);
    if (range == file.ranges.begin()) break;
    --range;
    const std::uint64_t skipped = at - range->first;
    if (skipped >= range->second.size()) break;
    const auto from = static_cast<std::size_t>(skipped);
    const std::size_t size = std::min(range->second.size() - from, destination.size() - done);
    std::memcpy(destination.data() + done, range->second.data() + from, size);
    done += size;
  }
  return done;
}

class RangeSource final : public Source {
 public:
  explicit RangeSource(std::size_t file) : file_(file) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override {
    return files[file_].size_bytes;
  }
  [[nodiscard]] std::uint64_t first_read_bytes() const noexcept override {
    return files[file_].first_read_bytes;
  }
  [[nodiscard]] Result<void> read(std::uint64_t file_offset,
                                  std::span<std::byte> destination) const override {
    INGOT_TRY_VOID(io::check_range(size_bytes(), file_offset, destination.size()));
    const std::size_t done = copy_range(files[file_], file_offset, destination);
    if (done == destination.size()) return {};
    missing.push_back({file_, file_offset + done, destination.size() - done});
    return fail(Errc::io_error, file_offset, {}, "the bytes are not here yet");
  }

 private:
  std::size_t file_;
};

class WebFiles final : public Store {
 public:
  [[nodiscard]] Result<std::unique_ptr<Source>> open(const std::string& name) const override {
    const auto file = std::ranges::find(files, name, &File::name);
    if (file == files.end()) return fail(Errc::io_error, name, "there is no such file");
    return std::make_unique<RangeSource>(static_cast<std::size_t>(file - files.begin()));
  }
  [[nodiscard]] Result<std::vector<std::string>> list(const std::string&) const override {
    std::vector<std::string> names;
    for (const File& file : files) names.push_back(file.name);
    return names;
  }
};

}  // namespace

void add_file(std::string name, std::uint64_t size_bytes, std::uint64_t first_read_bytes) {
  files.push_back({std::move(name), size_bytes, first_read_bytes, {}});
}

std::span<std::byte> add_range(std::size_t file, std::uint64_t offset, std::size_t size_bytes) {
  std::vector<std::byte>& range = files[file].ranges[offset];
  if (range.size() < size_bytes) range.resize(size_bytes);
  return std::span(range).first(size_bytes);
}

std::vector<MissingRange> take_missing() {
  std::vector<MissingRange> ranges = std::exchange(missing, {});
  std::ranges::sort(ranges, {}, [](const MissingRange& range) {
    return std::tuple(range.file, range.offset, ~range.size_bytes);
  });
  const auto same = std::ranges::unique(ranges, [](const MissingRange& a, const MissingRange& b) {
    return a.file == b.file && a.offset == b.offset;
  });
  ranges.erase(same.begin(), same.end());
  return ranges;
}

void drop_ranges(std::size_t file, std::uint64_t offset) {
  auto& ranges = files[file].ranges;
  ranges.erase(ranges.lower_bound(offset), ranges.end());
}

}  // namespace web

Store::~Store() = default;
std::string Store::locate(const std::string& name) const { return name; }

const Store& file_system() noexcept {
  static const web::WebFiles system;
  return system;
}

Result<std::unique_ptr<Source>> read_file(const std::string& path) {
  return file_system().open(path);
}

Result<LoadedFile> load_path(const std::string& path, const OpenOptions& options, OpenWay) {
  INGOT_TRY(std::unique_ptr<Source> source, file_system().open(path));
  return load(std::move(source), options);
}

namespace io {

std::optional<FileStamp> stamp_of(const std::string&) noexcept { return std::nullopt; }
void call_settled(const std::string&, const std::function<bool()>& open) { open(); }

}  // namespace io
}  // namespace ingot
