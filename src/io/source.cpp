// SPDX-License-Identifier: MIT
#include "ingot/source.hpp"

#include "io/memory_source.hpp"

namespace ingot {

Source::~Source() = default;
std::uint64_t Source::first_read_bytes() const noexcept { return usual_first_read_bytes; }

void Source::prefetch(std::uint64_t, std::uint64_t) const noexcept {}
void Source::release(std::uint64_t, std::uint64_t) const noexcept {}

int Source::descriptor() const noexcept { return -1; }

std::optional<Origin> Source::origin(std::uint64_t file_offset) const noexcept {
  return Origin{0, file_offset};
}

std::unique_ptr<Source> borrow_memory(std::span<const std::byte> bytes) {
  return std::make_unique<io::MemorySource>(bytes);
}

namespace io {

Result<void> check_range(std::uint64_t size_bytes, std::uint64_t file_offset,
                         std::uint64_t wanted_bytes) {
  if (file_offset <= size_bytes && wanted_bytes <= size_bytes - file_offset) return {};
  return fail(
      Errc::truncated, file_offset, {},
      std::to_string(wanted_bytes) + " bytes asked for in a file of " + std::to_string(size_bytes));
}

Result<void> MemorySource::read(std::uint64_t file_offset, std::span<std::byte> destination) const {
  INGOT_TRY_VOID(check_range(bytes_.size(), file_offset, destination.size()));
  if (!destination.empty()) {
    std::memcpy(destination.data(), bytes_.data() + file_offset, destination.size());
  }
  return {};
}

}  // namespace io
}  // namespace ingot
