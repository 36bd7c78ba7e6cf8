// SPDX-License-Identifier: MIT
// Write several files that appear together or not at all.
//
//   ingot::OutputSet files(/*may_replace=*/false);
//   for (const Part& part : parts) {
//     const auto file = files.add(part.path, part.bytes.size());
//     if (!file || !(*file)->write(part.bytes)) return complain();
//   }
//   if (const auto done = files.commit(); !done) return complain(done.error());
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/output_file.hpp"

namespace ingot {

/// While a SharedSearch lives, the files that its thread creates share one search of each folder
/// for left-overs of killed processes; else each new file searches again. Destroy it on the thread
/// that made it, the last one first.
class INGOT_EXPORT SharedSearch {
 public:
  SharedSearch();
  SharedSearch(const SharedSearch&) = delete;
  SharedSearch& operator=(const SharedSearch&) = delete;
  ~SharedSearch();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The file of a set that readers look for.
enum class KeyFile { first, last };

/// Files that are one thing only together. They are written one after the other and get their names
/// at the end. What can fail is over by then, but for a target that appears in the meantime.
///
/// At each moment there are, under these names, only old files or only new ones, and some may
/// be missing; older files are set aside meanwhile (".NAME.ingot-old"). The key file is the first
/// to go and the last to come: where it is, the set is whole. After a failure the older files are
/// back, and of the new ones there is nothing left. While they are named their folders are locked
/// (flock): of two processes that write one set each names all of its files before or after the
/// other. Of many files only some are open at a time; the others wait in a folder beside the first
/// one, under a temporary name. Not thread-safe.
class INGOT_EXPORT OutputSet {
 public:
  explicit OutputSet(bool may_replace);
  OutputSet(OutputSet&&) noexcept;
  OutputSet& operator=(OutputSet&&) = delete;
  ~OutputSet();

  /// Starts the next file; the earlier ones are complete. The pointer is valid until the next one
  /// is started.
  [[nodiscard]] Result<OutputFile*> add(const std::string& path, std::uint64_t size_bytes);
  /// Adds a file that the caller has begun.
  [[nodiscard]] Result<OutputFile*> add(const std::string& path, OutputFile file);

  /// A whole file.
  [[nodiscard]] Result<void> add_text(const std::string& path, std::string_view text);

  /// A file that an older set may have and this one has not: it is removed when the new ones get
  /// their names. Errc::already_exists if it is there and may not be replaced.
  [[nodiscard]] Result<void> drop(const std::string& path);

  /// Makes a folder, and those above it; they are gone again if nothing comes of the set.
  [[nodiscard]] Result<void> make_folder(const std::string& path);

  /// Flushes all files: the slow part of `commit`.
  [[nodiscard]] Result<void> sync();

  /// Names the files, or replaces an older file if there is only one. Errc::file_in_use if another
  /// process edits an older file, or names files in the same folder, and does not end soon (see
  /// lock_wait). `check`, if set, is called while the folders are locked; if it fails, no file gets
  /// its name. Must be the last call.
  [[nodiscard]] Result<void> commit(KeyFile key = KeyFile::last,
                                    const std::function<Result<void>()>& check = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ingot
