// SPDX-License-Identifier: MIT
// One remote file, read by ranges.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ingot/source.hpp"
#include "remote/http/session.hpp"

namespace ingot::remote {

/// What is known of a file before it is asked for.
struct RemoteTarget {
  Address address;
  std::optional<std::uint64_t> size_bytes = {};
  std::string sha256 = {};  ///< 64 digits, or empty.
};

/// The first range: most headers are shorter, and it costs no more time than a short one.
inline constexpr std::uint64_t first_range_bytes = std::uint64_t{1} << 20;

/// Opens a file by its first range, without a request before it. A server that ignores ranges sends
/// the whole file: then it is read front to back, as far as somebody reads, and not from anywhere
/// else (Errc::ranges_unsupported).
[[nodiscard]] Result<std::unique_ptr<Source>> open_remote_source(std::shared_ptr<Session> session,
                                                                 RemoteTarget target);

}  // namespace ingot::remote
