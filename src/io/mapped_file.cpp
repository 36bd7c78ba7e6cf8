// SPDX-License-Identifier: MIT
#include "io/mapped_file.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/checked.hpp"
#include "io/memory_source.hpp"
#include "io/plain_file.hpp"
#include "system/memory.hpp"

namespace ingot {
namespace io {
namespace {

class MappedFile final : public MemorySource {
 public:
  MappedFile(const std::byte* address, std::size_t size_bytes, FileDescriptor file) noexcept
      : MemorySource({address, size_bytes}), file_(std::move(file)) {}
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile() override {
    if (!bytes().empty()) system::unmap(bytes().data(), bytes().size());
  }
  [[nodiscard]] int descriptor() const noexcept override { return file_.get(); }

  /// Lets the system read more than a page. That takes less time than mapping pages, and leaves
  /// none mapped, while one fault may map up to 2 MiB.
  [[nodiscard]] Result<void> read(std::uint64_t file_offset,
                                  std::span<std::byte> destination) const override {
    constexpr std::size_t least_read_bytes = 4096;
    if (destination.size() < least_read_bytes || !file_.is_open()) {
      return MemorySource::read(file_offset, destination);
    }
    INGOT_TRY_VOID(check_range(bytes().size(), file_offset, destination.size()));
    return read_fully(file_.get(), file_offset, destination);
  }

  void prefetch(std::uint64_t file_offset, std::uint64_t size_bytes) const noexcept override {
    advise(file_offset, size_bytes, system::prefetch_pages);
  }
  void release(std::uint64_t file_offset, std::uint64_t size_bytes) const noexcept override {
    advise(file_offset, size_bytes, system::release_pages);
  }

 private:
  /// The advice goes to all pages that the range touches; none of it changes their content.
  void advise(std::uint64_t file_offset, std::uint64_t size_bytes,
              void (*advice)(const std::byte*, std::size_t) noexcept) const noexcept {
    const std::uint64_t page_bytes = system::page_bytes();
    if (file_offset >= bytes().size()) return;
    const std::uint64_t begin = file_offset / page_bytes * page_bytes;
    const std::uint64_t size = std::min(size_bytes, bytes().size() - file_offset);
    advice(bytes().data() + begin, to_size(file_offset - begin + size));
  }

  FileDescriptor file_;  // for copies by the system; open only if it is kept
};

}  // namespace

Result<std::unique_ptr<Source>> map_descriptor(RegularFile file, Keep keep) {
  const std::byte* address = nullptr;  // null for an empty file, which cannot be mapped
  if (file.size_bytes != 0) {
    address = system::map_file(file.descriptor.get(), to_size(file.size_bytes));
    // It is larger than what is left of the addresses of this process: programs of 32 bits have
    // few.
    if (address == nullptr && errno == ENOMEM) return read_descriptor(std::move(file));
    if (address == nullptr) return fail_with_errno(errno, {}, "map it");
  }
  if (keep == Keep::nothing) file.descriptor = FileDescriptor();
  return std::make_unique<MappedFile>(address, to_size(file.size_bytes),
                                      std::move(file.descriptor));
}

}  // namespace io

Result<std::unique_ptr<Source>> map_file(const std::string& path) {
  INGOT_TRY(io::RegularFile file, io::open_regular(path));
  return io::map_descriptor(std::move(file));
}

}  // namespace ingot
