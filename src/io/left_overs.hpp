// SPDX-License-Identifier: MIT
// The names of files that are not complete, and what killed processes left under such names.
#pragma once

#include <map>
#include <set>
#include <string>

#include "ingot/error.hpp"
#include "io/file_descriptor.hpp"

namespace ingot::io {

/// A name beside `path` that no other program will choose: ".NAME.", 16 hexadecimal digits, ".tmp".
[[nodiscard]] std::string temporary_name(const std::string& path);

/// A folder for complete files of a set that wait for their names: they need no descriptors there.
/// While it is locked it is nobody else's; it goes with what is in it.
class StagingFolder {
 public:
  /// Beside `path`, under a temporary name.
  [[nodiscard]] static Result<StagingFolder> make(const std::string& path);
  StagingFolder(StagingFolder&&) noexcept = default;
  StagingFolder& operator=(StagingFolder&&) = delete;
  ~StagingFolder();

  /// A new name within.
  [[nodiscard]] std::string next_name() { return path_ + "/" + std::to_string(++count_); }

 private:
  StagingFolder(std::string path, FileDescriptor folder) noexcept
      : path_(std::move(path)), folder_(std::move(folder)) {}

  std::string path_;
  FileDescriptor folder_;
  std::size_t count_ = 0;
};

/// Files that killed processes left in some folders, each of which is read once: the files of a set
/// share one, so that their number and that of the files beside them do not multiply.
class LeftOvers {
 public:
  /// Removes what is left of new files for this path, unless a living process has it locked.
  void remove(const std::string& path);

  /// While one lives, the calling thread's new files look for theirs in a common list. The list
  /// must outlive it.
  class Use {
   public:
    explicit Use(LeftOvers& left_overs) noexcept;
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    ~Use();

   private:
    LeftOvers* before_;
  };

 private:
  std::map<std::string, std::set<std::string>> names_;  // by folder
};

/// Removes what is left of new files for this path, with the list that the thread uses, or one of
/// its own.
void remove_left_overs(const std::string& path);

}  // namespace ingot::io
