// SPDX-License-Identifier: MIT
// Write several files that appear together or not at all.
//
//   ingot::OutputSet files(/*may_replace=*/false);
//   for (const Part& part : parts) {
//     const auto file = files.add(part.path, part.bytes.size());
//     if (!file || !(*file)->write(part.bytes)) return complain();
//   }
//   if (const auto done = files.commit_as_one(); !done) return complain(done.error());
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/output_file.hpp"

namespace ingot {

namespace io {
class LeftOvers;
}

/// While one lives, the files that its thread creates share one search of each folder for what
/// killed processes left there; else each new file searches anew. It ends on the thread that it
/// began on, the last one first.
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

/// Names files that are one thing only together, the last of them being the one that readers look
/// for: so it is the first to go where older files are replaced. They should be flushed already.
///
/// At each moment there are, under these names, only old files or only new ones, and some may
/// be missing; older files are set aside meanwhile (".NAME.ingot-old"). After a failure they are
/// back, and of the new ones there is nothing left. While they are named their folders are locked
/// (flock): of two processes that write one set each names all of its files before or after the
/// other. Errc::file_in_use if another process does not end soon (see lock_wait).
[[nodiscard]] INGOT_EXPORT Result<void> commit_together(std::span<OutputFile> files,
                                                        std::span<const std::string> paths,
                                                        bool may_replace);

/// Files that are written one after the other and get their names at the end, in that order. What
/// can fail is over by then, but for a target that appears in the meantime. Not thread-safe.
class INGOT_EXPORT OutputSet {
 public:
  explicit OutputSet(bool may_replace);
  OutputSet(const OutputSet&) = delete;
  OutputSet& operator=(const OutputSet&) = delete;
  ~OutputSet();

  /// Starts the next file. The reference is valid until the next one is started.
  [[nodiscard]] Result<OutputFile*> add(const std::string& path, std::uint64_t size_bytes);

  /// A whole file.
  [[nodiscard]] Result<void> add_text(const std::string& path, std::string_view text);

  [[nodiscard]] Result<void> commit();

  /// The same for files that make no sense without each other; see commit_together.
  [[nodiscard]] Result<void> commit_as_one();

 private:
  [[nodiscard]] Result<void> sync();

  bool may_replace_;
  std::unique_ptr<io::LeftOvers> left_overs_;
  std::vector<std::string> paths_;
  std::vector<OutputFile> files_;
};

}  // namespace ingot
