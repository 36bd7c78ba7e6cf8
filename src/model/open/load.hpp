// SPDX-License-Identifier: MIT
// One file, from its path or source to its structure.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "ingot/error.hpp"
#include "ingot/model.hpp"
#include "ingot/source.hpp"
#include "ingot/store.hpp"
#include "io/file_stamp.hpp"
#include "model/open/model_state.hpp"

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

/// Opens a file of this machine by its path, as readers see it.
[[nodiscard]] Result<OpenedFile> open_file(const std::string& path, const OpenWay& way);

/// Maps or reads a file, by the options, and parses its header. A file whose edit was cut off is
/// seen as it was before. `way` holds all other options.
[[nodiscard]] Result<LoadedFile> load_path(const std::string& path, const OpenOptions& options,
                                           OpenWay way = {});

/// Loads a file of a store; one of the file system as `load_path` does.
[[nodiscard]] Result<LoadedFile> load_from(const Store& store, const std::string& name,
                                           const OpenOptions& options, OpenWay way = {});

/// Parses the header of a source. A source that is not in memory is read in growing pieces until
/// the header is complete, so that little more than the header is ever read and held.
[[nodiscard]] Result<LoadedFile> load(std::unique_ptr<Source> source, const OpenOptions& options);

/// Parses the header of a stream, then reads to the end of the stream to learn its size.
[[nodiscard]] Result<LoadedFile> load_stream(int descriptor, const OpenOptions& options);

}  // namespace ingot
