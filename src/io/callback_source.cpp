// SPDX-License-Identifier: MIT
#include <utility>

#include "ingot/source.hpp"
#include "io/memory_source.hpp"

namespace ingot {
namespace {

class CallbackSource final : public Source {
 public:
  CallbackSource(std::uint64_t size_bytes, ReadFunction read)
      : size_bytes_(size_bytes), read_(std::move(read)) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return size_bytes_; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept override { return {}; }
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

std::unique_ptr<Source> read_through(std::uint64_t size_bytes, ReadFunction read) {
  return std::make_unique<CallbackSource>(size_bytes, std::move(read));
}

}  // namespace ingot
