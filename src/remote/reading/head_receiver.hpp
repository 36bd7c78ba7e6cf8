// SPDX-License-Identifier: MIT
// Receives the beginning of a file, whatever the server makes of the request for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "remote/http/client.hpp"
#include "remote/reading/file_identity.hpp"

namespace ingot::remote {

/// Asks for the first range. A server that sends ranges ends there; one that sends the whole file
/// is paused there, and goes on as far as `take_spare` and the next pause want.
class HeadReceiver final : public Receiver {
 public:
  FileIdentity identity;

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }

  /// The size of the file, when the first answer is there; `unknown` if nothing tells it,
  /// Errc::answer_invalid if a hub has told another one.
  [[nodiscard]] Result<std::uint64_t> resolve_size(const Answer& answer, const Error& unknown);

  // --- of a stream that is paused
  /// The offset of the next byte that comes.
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  /// Fills a buffer with what came too early; true if that is all of it. Else the buffer must live
  /// until the next pause or the end, and is filled by then if `is_filled`.
  [[nodiscard]] bool take_spare(std::span<std::byte> destination);
  [[nodiscard]] bool is_filled() const noexcept { return wanted_.empty(); }
  /// Forgets the buffer; the transfer must have ended.
  void give_up() noexcept { wanted_ = {}; }

  [[nodiscard]] std::optional<ByteRange> range() const override;
  [[nodiscard]] Result<void> begin(const Answer& answer) override;
  [[nodiscard]] Take take(std::span<const std::byte> bytes) override;
  [[nodiscard]] bool is_complete() const override;
  [[nodiscard]] std::uint64_t received_bytes() const override { return bytes_.size(); }

 private:
  [[nodiscard]] Result<void> begin_empty(const Answer& answer);

  std::vector<std::byte> bytes_;
  std::uint64_t coming_bytes_ = 0;  ///< The bytes of a range that come.
  bool is_stream_ = false;
  std::uint64_t position_ = 0;
  std::vector<std::byte> spare_;
  std::span<std::byte> wanted_;
};

}  // namespace ingot::remote
