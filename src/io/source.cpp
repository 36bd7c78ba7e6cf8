// SPDX-License-Identifier: MIT
#include "ingot/source.hpp"

#include <utility>

#include "io/memory_source.hpp"

namespace ingot {
namespace {

class CallbackSource final : public Source {
 public:
  CallbackSource(std::uint64_t size_bytes, ReadFunction read)
      : size_bytes_(size_bytes), read_(std::move(read)) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return size_bytes_; }
  [[nodiscard]] Result<void> read(std::uint64_t file_offset,
                                  std::span<std::byte> destination) const override {
    INGOT_TRY_VOID(io::check_range(size_bytes_, file_offset, destination.size()));
    if (destination.empty() || read_(file_offset, destination)) return {};
    return fail(Errc::io_error, file_offset, {}, "the read function failed");
  }

 private:
  std::uint64_t size_bytes_;
  ReadFunction read_;
};

}  // namespace

Source::~Source() = default;
std::span<const std::byte> Source::bytes() const noexcept { return {}; }
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

std::unique_ptr<Source> read_through(std::uint64_t size_bytes, ReadFunction read) {
  return std::make_unique<CallbackSource>(size_bytes, std::move(read));
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
