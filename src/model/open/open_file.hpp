// SPDX-License-Identifier: MIT
// A model file, opened by its path as readers see it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ingot/error.hpp"
#include "ingot/source.hpp"
#include "io/file_stamp.hpp"

namespace ingot {

/// A file opened for reading: through its journal, if an edit of it was cut off.
struct OpenedFile {
  std::unique_ptr<Source> source;
  bool is_restored = false;
  std::optional<Error> notice;
  std::optional<io::FileStamp> stamp;
};

/// The lock that keeps edits away while a file is read through a journal: a shared lock of the
/// opened file, or the lock of an editor that opens its own file.
enum class JournalLock { take, is_held };

struct OpenWay {
  JournalLock lock = JournalLock::take;
  bool is_mapped = true;
  bool is_one_of_many = false;  ///< The file is one of more files than a process has descriptors.
};
[[nodiscard]] Result<OpenedFile> open_file(const std::string& path, const OpenWay& way);

}  // namespace ingot
