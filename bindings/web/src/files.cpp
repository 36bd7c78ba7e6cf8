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

/// The bytes that are here from an offset on, up to the end of their range.
std::span<const std::byte> bytes_at(const File& file, std::uint64_t offset) {
  auto range = file.ranges.upper_bound(offset);
  if (range == file.ranges.begin()) return {};
  --range;
  const std::uint64_t skipped = offset - range->first;
  if (skipped >= range->second.size()) return {};
  return std::span(range->second).subspan(static_cast<std::size_t>(skipped));
}

/// Copies what is here; returns how much.
std::size_t copy_range(const File& file, std::uint64_t offset, std::span<std::byte> destination) {
  std::size_t done = 0;
  while (done < destination.size()) {
    const auto bytes = bytes_at(file, offset + done);
    if (bytes.empty()) break;
    const std::size_t size = std::min(bytes.size(), destination.size() - done);
    std::memcpy(destination.data() + done, bytes.data(), size);
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
    const std::size_t file = number_of(name);
    if (file == files.size()) return fail(Errc::io_error, name, "there is no such file");
    return std::make_unique<RangeSource>(file);
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

std::vector<MissingRange> take_missing() { return std::exchange(missing, {}); }

std::span<const std::byte> range_at(std::size_t file, std::uint64_t offset) {
  return files[file].ranges[offset];
}

void drop_range(std::size_t file, std::uint64_t offset) { files[file].ranges.erase(offset); }

std::size_t number_of(const std::string& name) {
  return static_cast<std::size_t>(std::ranges::find(files, name, &File::name) - files.begin());
}

bool has_range(std::size_t file, std::uint64_t offset, std::uint64_t size_bytes) {
  const std::uint64_t end = offset + size_bytes;
  while (offset < end) {
    const auto bytes = bytes_at(files[file], offset);
    if (bytes.empty()) break;
    offset += bytes.size();
  }
  if (offset < end) missing.push_back({file, offset, end - offset});
  return offset >= end;
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
