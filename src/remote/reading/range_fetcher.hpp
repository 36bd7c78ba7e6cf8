// SPDX-License-Identifier: MIT
// Ranges of a file from the address that its server redirected to, as long as that holds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <stop_token>

#include "remote/http/client.hpp"
#include "remote/reading/file_identity.hpp"

namespace ingot::remote {

/// Takes bytes of the range; `position` counts from its beginning.
using WriteFunction =
    std::function<Result<void>(std::uint64_t position, std::span<const std::byte> bytes)>;

/// Fetches ranges of one file. Thread-safe.
class RangeFetcher {
 public:
  /// `given` is the address that the user or a hub gave, `final_address` where the first answer
  /// came from.
  RangeFetcher(std::shared_ptr<Client> client, Address given, Address final_address,
               FileIdentity identity)
      : client_(std::move(client)),
        given_(std::move(given)),
        identity_(std::move(identity)),
        final_address_(std::move(final_address)) {}

  /// `stop` is of the task that fetches.
  [[nodiscard]] Result<void> fetch(std::uint64_t file_offset, std::uint64_t size_bytes,
                                   const WriteFunction& write,
                                   const std::stop_token& stop = {}) const;

 private:
  [[nodiscard]] Result<void> fetch_from(const Address& address, std::uint64_t file_offset,
                                        std::uint64_t size_bytes, const WriteFunction& write,
                                        const std::stop_token& stop) const;

  std::shared_ptr<Client> client_;
  Address given_;
  FileIdentity identity_;
  mutable std::mutex mutex_;
  mutable Address final_address_;
};

}  // namespace ingot::remote
