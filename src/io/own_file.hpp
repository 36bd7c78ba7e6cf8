// SPDX-License-Identifier: MIT
// Files of this program beside others, under names that everybody can foresee.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "io/file_descriptor.hpp"

namespace ingot::io {

/// A file of this user. An existing file is used only if it is a regular file of this user with a
/// single name. Otherwise another user who may write to the folder could place a link there and
/// have a different file changed. Errc::not_a_regular_file says what was found instead.
struct OwnFile {
  FileDescriptor descriptor;
  bool is_new = false;
};
/// Opens the file for reading and writing, or makes it.
[[nodiscard]] INGOT_EXPORT Result<OwnFile> open_own_file(const std::string& path);

/// The content of the file; empty if there is none, or if it has more than `max_bytes`.
[[nodiscard]] INGOT_EXPORT Result<std::string> read_own_file(const std::string& path,
                                                             std::uint64_t max_bytes);

/// Replaces the file at once, without a flush to the disk.
[[nodiscard]] INGOT_EXPORT Result<void> replace_own_file(const std::string& path,
                                                         std::string_view text);

}  // namespace ingot::io
