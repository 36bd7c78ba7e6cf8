// SPDX-License-Identifier: MIT
// Receives one range of a file whose identity is known.
#pragma once

#include <cstdint>
#include <span>

#include "remote/http/session.hpp"
#include "remote/reading/file_identity.hpp"

namespace ingot::remote {

/// Fills a buffer from a place in the file on, in as many attempts as it takes.
class RangeReceiver final : public Receiver {
 public:
  /// The buffer must outlive the receiver, and lie within the file.
  RangeReceiver(FileIdentity identity, std::uint64_t file_offset, std::span<std::byte> destination)
      : identity_(std::move(identity)), file_offset_(file_offset), destination_(destination) {}

  [[nodiscard]] std::optional<ByteRange> range() const override {
    return ByteRange{file_offset_ + received_bytes_, file_offset_ + destination_.size() - 1};
  }
  [[nodiscard]] Result<void> begin(const Answer& answer) override;
  [[nodiscard]] Take take(std::span<const std::byte> bytes) override;
  [[nodiscard]] bool is_complete() const override { return received_bytes_ == destination_.size(); }
  [[nodiscard]] std::uint64_t received_bytes() const override { return received_bytes_; }

 private:
  FileIdentity identity_;
  std::uint64_t file_offset_;
  std::span<std::byte> destination_;
  std::uint64_t received_bytes_ = 0;
};

}  // namespace ingot::remote
