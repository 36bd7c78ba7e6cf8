// SPDX-License-Identifier: MIT
// Whether answers are about the same bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "remote/http/client.hpp"

namespace ingot::remote {

/// What tells one state of a remote file from another.
struct FileIdentity {
  std::optional<std::uint64_t> size_bytes;
  std::string tag;       ///< ETag as it was sent; may be weak, may be empty.
  std::string modified;  ///< Last-Modified; may be empty.

  /// The tag for If-Range; empty unless it is strong.
  [[nodiscard]] std::string strong_tag() const { return is_strong_tag(tag) ? tag : std::string(); }

  /// Takes over what an answer says, or compares with it: Errc::remote_changed. `total_bytes` is
  /// the size of the file by that answer.
  [[nodiscard]] Result<void> agree(const Answer& answer, std::optional<std::uint64_t> total_bytes);
};

/// Checks an answer to a range request that begins at `first` and may be shorter than
/// `wanted_bytes` only at the end of the file; returns how many bytes come. Errc::answer_invalid,
/// Errc::remote_changed.
[[nodiscard]] Result<std::uint64_t> check_partial(const Answer& answer, std::uint64_t first,
                                                  std::uint64_t wanted_bytes,
                                                  FileIdentity& identity);

}  // namespace ingot::remote
