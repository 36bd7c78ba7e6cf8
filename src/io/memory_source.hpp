// SPDX-License-Identifier: MIT
// Bytes in memory as a source.
#pragma once

#include <cstring>

#include "ingot/source.hpp"

namespace ingot::io {

/// Fails with Errc::truncated unless `wanted_bytes` from `file_offset` on lie within `size_bytes`.
[[nodiscard]] Result<void> check_range(std::uint64_t size_bytes, std::uint64_t file_offset,
                                       std::uint64_t wanted_bytes);

/// A source over borrowed bytes. A mapped file is one, too, and also owns its mapping.
class MemorySource : public Source {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept final { return bytes_.size(); }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept final { return bytes_; }
  [[nodiscard]] Result<void> read(std::uint64_t file_offset,
                                  std::span<std::byte> destination) const override;

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace ingot::io
