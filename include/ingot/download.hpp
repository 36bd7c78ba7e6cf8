// SPDX-License-Identifier: MIT
// Download a file of a remote store, proven whole (target ingot::remote).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ingot/describe.hpp"
#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/remote.hpp"

namespace ingot {

struct DownloadOptions {
  unsigned connections = 4;  ///< Ranges of 16 MiB that are fetched at the same time; 1 to 16.
  bool may_replace = false;  ///< Another file at the path is replaced.
  /// Receives the number of bytes on the disk and the total, ten times a second. False ends the
  /// work with Errc::interrupted; the bytes stay for the next attempt.
  std::function<bool(std::uint64_t done_bytes, std::uint64_t total_bytes)> progress = {};
};

struct DownloadedFile {
  std::uint64_t size_bytes = 0;
  std::string sha256;             ///< The digest of the file, computed here.
  bool is_verified = false;       ///< Equal to the digest that the server had named.
  bool was_there = false;         ///< The file was there already, with that digest.
  std::uint64_t kept_bytes = 0;   ///< Bytes kept from an earlier attempt.
  std::string reason_to_restart;  ///< Why an earlier attempt was thrown away; or empty.
};

template <class Visitor>
void describe(Visitor& visit, const DownloadedFile& file) {
  visit("size", file.size_bytes, "bytes", "of the file");
  visit("sha256", file.sha256, "", "as computed here");
  visit("verified", file.is_verified, "", "whether the server had named this digest");
  visit("was_there", file.was_there, "", "whether nothing had to be fetched");
  visit("kept_bytes", file.kept_bytes, "bytes", "of an earlier attempt");
}

/// Fetches the file `name` of a store to `path`. Until it is complete and its digest is right it is
/// `PATH.ingot-part`, with `PATH.ingot-part.json` beside it; a later call goes on where an earlier
/// one ended, if server and file are the same, even after a kill. One process at a time.
///
/// @return Errc::digest_mismatch: the received file is kept as `PATH.ingot-bad`.
/// Errc::already_exists if
///          another file is at `path`; Errc::file_in_use if another process downloads it;
///          Errc::io_error, for a full disk before the first byte; errors of the server.
[[nodiscard]] INGOT_EXPORT Result<DownloadedFile> download(const RemoteStore& store,
                                                           const std::string& name,
                                                           const std::string& path,
                                                           const DownloadOptions& options = {});

/// The name of a file of a store for this system: its last part, without percent-encoding.
/// Errc::answer_invalid if that is no name of a file.
[[nodiscard]] INGOT_EXPORT Result<std::string> local_name(const std::string& name);

}  // namespace ingot
