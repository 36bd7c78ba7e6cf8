// SPDX-License-Identifier: MIT
// Receives one range of a file whose identity is known.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "remote/http/session.hpp"
#include "remote/reading/file_identity.hpp"

namespace ingot::remote {

/// Takes bytes of the range; `position` counts from its beginning.
using WriteFunction =
    std::function<Result<void>(std::uint64_t position, std::span<const std::byte> bytes)>;

/// Hands on a range from a place in the file on, in as many attempts as it takes.
class RangeReceiver final : public Receiver {
 public:
  /// The range must lie within the file. `write` is called from the loop's thread.
  RangeReceiver(FileIdentity identity, std::uint64_t file_offset, std::uint64_t size_bytes,
                WriteFunction write)
      : identity_(std::move(identity)),
        file_offset_(file_offset),
        size_bytes_(size_bytes),
        write_(std::move(write)) {}

  [[nodiscard]] std::optional<ByteRange> range() const override {
    return ByteRange{file_offset_ + received_bytes_, file_offset_ + size_bytes_ - 1};
  }
  [[nodiscard]] Result<void> begin(const Answer& answer) override;
  [[nodiscard]] Take take(std::span<const std::byte> bytes) override;
  [[nodiscard]] bool is_complete() const override { return received_bytes_ == size_bytes_; }
  [[nodiscard]] std::optional<Error> failure() const override { return failure_; }
  [[nodiscard]] std::uint64_t received_bytes() const override { return received_bytes_; }

 private:
  FileIdentity identity_;
  std::uint64_t file_offset_;
  std::uint64_t size_bytes_;
  WriteFunction write_;
  std::optional<Error> failure_;
  std::uint64_t received_bytes_ = 0;
};

}  // namespace ingot::remote
