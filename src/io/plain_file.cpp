// SPDX-License-Identifier: MIT
#include "io/plain_file.hpp"

#include <algorithm>

#include "io/file_stamp.hpp"
#include "io/memory_source.hpp"
#include "system/files.hpp"

namespace ingot {
namespace io {
namespace {

class PlainFile final : public Source {
 public:
  explicit PlainFile(RegularFile file) noexcept : file_(std::move(file)) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return file_.size_bytes; }
  [[nodiscard]] Result<void> read(std::uint64_t file_offset,
                                  std::span<std::byte> destination) const override {
    INGOT_TRY_VOID(check_range(file_.size_bytes, file_offset, destination.size()));
    return read_fully(file_.descriptor.get(), file_offset, destination);
  }
  void prefetch(std::uint64_t file_offset, std::uint64_t size_bytes) const noexcept override {
    if (file_offset >= file_.size_bytes) return;
    const std::uint64_t size = std::min(size_bytes, file_.size_bytes - file_offset);
    system::advise_reading(file_.descriptor.get(), file_offset, size);
  }
  [[nodiscard]] int descriptor() const noexcept override { return file_.descriptor.get(); }

 private:
  RegularFile file_;
};

class FileOnDemand final : public Source {
 public:
  FileOnDemand(std::string path, const FileStamp& stamp, std::uint64_t size_bytes)
      : path_(std::move(path)), stamp_(stamp), size_bytes_(size_bytes) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return size_bytes_; }
  [[nodiscard]] Result<void> read(std::uint64_t file_offset,
                                  std::span<std::byte> destination) const override {
    INGOT_TRY_VOID(check_range(size_bytes_, file_offset, destination.size()));
    INGOT_TRY(const RegularFile file, open_regular(path_));
    const auto now = stamp_of(file.descriptor.get());
    if (!now || !now->is_same_file(stamp_)) {
      return fail(Errc::io_error, path_, "another file has got its name");
    }
    return read_fully(file.descriptor.get(), file_offset, destination);
  }

 private:
  std::string path_;
  FileStamp stamp_;
  std::uint64_t size_bytes_;
};

}  // namespace

Result<std::unique_ptr<Source>> read_on_demand(const std::string& path, const RegularFile& file) {
  const auto stamp = stamp_of(file.descriptor.get());
  if (!stamp) return fail(Errc::io_error, path, "cannot look at it");
  return std::make_unique<FileOnDemand>(path, *stamp, file.size_bytes);
}

std::unique_ptr<Source> read_descriptor(RegularFile file) {
  return std::make_unique<PlainFile>(std::move(file));
}

}  // namespace io

Result<std::unique_ptr<Source>> read_file(const std::string& path) {
  INGOT_TRY(io::RegularFile file, io::open_regular(path));
  return io::read_descriptor(std::move(file));
}

}  // namespace ingot
