// SPDX-License-Identifier: MIT
// The headers of remote models that are kept on this system, so that a second look needs no server
// (target ingot::remote).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ingot/describe.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"

namespace ingot {

/// The beginning of a remote file as it is kept.
struct CachedHeaderFacts {
  std::string address;  ///< Safe to print: without password and query.
  std::uint64_t file_bytes = 0;
  std::uint64_t kept_bytes = 0;
  std::int64_t used_at = 0;   ///< Seconds since 1970.
  bool is_immutable = false;  ///< The address names a commit or a digest; no server is asked.
};

template <class Visitor>
void describe(Visitor& visit, const CachedHeaderFacts& header) {
  visit("address", header.address, "", "without password and query");
  visit("file_size", header.file_bytes, "bytes", "of the file on the server");
  visit("bytes", header.kept_bytes, "bytes", "that are kept");
  visit("used_at", header.used_at, "seconds", "since 1970");
  visit("immutable", header.is_immutable, "",
        "whether the address names a commit or a digest, so that no server is asked again");
}

/// The headers in a cache, the last used first; entries that are damaged are left out. A folder
/// that is not there, or that others could write to, has none. Linear in the entries; thread-safe.
[[nodiscard]] INGOT_EXPORT std::vector<CachedHeaderFacts> list_remote_cache(
    const std::string& folder);

/// Removes all entries, and nothing that is no entry; returns the bytes that were freed.
/// Errc::io_error if some could not be removed. Thread-safe, beside other processes too.
[[nodiscard]] INGOT_EXPORT Result<std::uint64_t> clear_remote_cache(const std::string& folder);

}  // namespace ingot
