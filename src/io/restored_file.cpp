// SPDX-License-Identifier: MIT
#include "io/restored_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "base/checked.hpp"
#include "io/memory_source.hpp"
#include "system/memory.hpp"

namespace ingot::io {
namespace {

/// Reads `destination.size()` bytes of the earlier state from `file_offset` on, except for the
/// patch.
Result<void> read_around(const RegularFile& file, const EarlierState& state,
                         std::uint64_t file_offset, std::span<std::byte> destination) {
  if (file_offset < state.inserted_offset) {
    const auto before = destination.first(
        to_size(std::min<std::uint64_t>(destination.size(), state.inserted_offset - file_offset)));
    INGOT_TRY_VOID(read_fully(file.descriptor.get(), file_offset, before));
    destination = destination.subspan(before.size());
    file_offset += before.size();
  }
  return read_fully(file.descriptor.get(), file_offset + state.inserted_bytes, destination);
}

class RestoredFile final : public Source {
 public:
  RestoredFile(RegularFile file, EarlierState state) noexcept
      : file_(std::move(file)), state_(std::move(state)) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return state_.size_bytes; }
  [[nodiscard]] Result<void> read(std::uint64_t file_offset,
                                  std::span<std::byte> destination) const override {
    INGOT_TRY_VOID(check_range(state_.size_bytes, file_offset, destination.size()));
    INGOT_TRY_VOID(read_around(file_, state_, file_offset, destination));
    const std::uint64_t begin = std::max(file_offset, state_.patch_offset);
    const std::uint64_t end =
        std::min(file_offset + destination.size(), state_.patch_offset + state_.patch.size());
    if (begin < end) {
      std::memcpy(&destination[to_size(begin - file_offset)],
                  &state_.patch[to_size(begin - state_.patch_offset)], to_size(end - begin));
    }
    if (file_offset == 0 && !destination.empty()) {
      destination[0] = state_.first_byte.value_or(destination[0]);
    }
    return {};
  }

 private:
  RegularFile file_;
  EarlierState state_;
};

class RestoredMapping final : public MemorySource {
 public:
  RestoredMapping(const std::byte* address, std::size_t size_bytes, RegularFile file) noexcept
      : MemorySource({address, size_bytes}), file_(std::move(file)) {}
  RestoredMapping(const RestoredMapping&) = delete;
  RestoredMapping& operator=(const RestoredMapping&) = delete;
  ~RestoredMapping() override { system::unmap(bytes().data(), bytes().size()); }

 private:
  RegularFile file_;  // stays open for its lock
};

/// Maps a part of the file over a part of the reserved addresses.
bool map_part(std::byte* to, std::uint64_t bytes, int descriptor, std::uint64_t file_offset) {
  return bytes == 0 || system::map_part(to, to_size(bytes), descriptor, file_offset);
}

/// Writes bytes into private copies of their pages.
bool patch_pages(std::byte* address, std::uint64_t offset, std::span<const std::byte> bytes,
                 std::uint64_t page_bytes) {
  if (bytes.empty()) return true;
  const std::uint64_t begin = offset / page_bytes * page_bytes;
  const auto size = to_size(offset + bytes.size() - begin);
  if (!system::set_writable(address + begin, size, true)) return false;
  std::memcpy(address + offset, bytes.data(), bytes.size());
  return system::set_writable(address + begin, size, false);
}

}  // namespace

std::unique_ptr<Source> read_restored(RegularFile file, EarlierState state) {
  return std::make_unique<RestoredFile>(std::move(file), std::move(state));
}

Result<std::unique_ptr<Source>> map_restored(RegularFile file, EarlierState state) {
  const std::uint64_t page_bytes = system::page_bytes();
  if (state.size_bytes == 0 || state.inserted_offset % page_bytes != 0 ||
      state.inserted_bytes % page_bytes != 0 ||
      state.size_bytes > std::numeric_limits<std::size_t>::max()) {
    return read_restored(std::move(file), std::move(state));
  }
  const auto size_bytes = to_size(state.size_bytes);
  std::byte* const begin = system::reserve_addresses(size_bytes);
  if (begin == nullptr && (errno == ENOSYS || errno == ENOMEM)) {
    return read_restored(std::move(file), std::move(state));
  }
  if (begin == nullptr) return fail_with_errno(errno, {}, "map it");
  const std::uint64_t before = std::min(state.inserted_offset, state.size_bytes);
  const int descriptor = file.descriptor.get();
  if (!map_part(begin, before, descriptor, 0) ||
      !map_part(begin + before, state.size_bytes - before, descriptor,
                before + state.inserted_bytes) ||
      !patch_pages(begin, state.patch_offset, state.patch, page_bytes) ||
      (state.first_byte && !patch_pages(begin, 0, std::span(&*state.first_byte, 1), page_bytes))) {
    const int error_number = errno;
    system::unmap(begin, size_bytes);
    return fail_with_errno(error_number, {}, "map it");
  }
  return std::make_unique<RestoredMapping>(begin, size_bytes, std::move(file));
}

}  // namespace ingot::io
