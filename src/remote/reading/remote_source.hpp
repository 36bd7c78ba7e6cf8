// SPDX-License-Identifier: MIT
// A file on a server as a source: its beginning is there at once, the rest is fetched as it is
// read.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "ingot/remote_options.hpp"
#include "ingot/source.hpp"
#include "remote/cache/header_cache.hpp"
#include "remote/http/client.hpp"

namespace ingot::remote {

/// What is known of a file before it is asked for.
struct RemoteTarget {
  Address address;
  std::optional<std::uint64_t> size_bytes = {};
  bool is_immutable = false;                           ///< The address names a commit or a digest.
  std::shared_ptr<const HeaderCache> cache = nullptr;  ///< The cache of headers, if there is one.
  std::stop_token stop = {};                           ///< The stop of the task that opens it.
};

/// The first range: most headers are shorter, and it costs no more time than a short one.
inline constexpr std::uint64_t first_range_bytes = std::uint64_t{1} << 20;

/// Why a file is not opened where nothing may be fetched.
inline constexpr const char* not_here = "it is in no cache of this system, and nothing is fetched";

/// A file of which at least a part is on a server.
class RemoteSource : public Source {
 public:
  /// Ranges that will be read, in this order: they are joined, cut, and fetched ahead.
  virtual void expect(std::span<const FileRange> ranges) const = 0;
  /// Keeps what was read from the beginning of the file on in the cache.
  virtual void keep() const = 0;
};

/// The file if its beginning is in the cache and is still right: an address that names a commit or
/// a digest is not asked for, another one by one request for its tag. Else nothing.
[[nodiscard]] Result<std::unique_ptr<RemoteSource>> open_cached_source(
    const std::shared_ptr<Client>& client, const RemoteTarget& target);

/// Opens a file: from the cache, if what is there is still right, else by its first range, without
/// a request before it. A server that ignores ranges sends the whole file: then it is read front to
/// back, as far as somebody reads, and not from anywhere else (Errc::ranges_unsupported). Without a
/// client nothing is fetched: Errc::remote_unavailable for what is not kept.
[[nodiscard]] Result<std::unique_ptr<RemoteSource>> open_remote_source(
    std::shared_ptr<Client> client, RemoteTarget target);

}  // namespace ingot::remote
