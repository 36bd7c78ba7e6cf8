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

/// A folder for complete files of a set that wait for their names; there they need no open
/// descriptors. The lock keeps other processes out. The folder is removed together with its files.
class StagingFolder {
 public:
  /// Makes a folder beside `path`, under a temporary name.
  [[nodiscard]] static Result<StagingFolder> make(const std::string& path);
  StagingFolder(StagingFolder&&) noexcept = default;
  StagingFolder& operator=(StagingFolder&&) = delete;
  ~StagingFolder();

  /// A new name in the folder.
  [[nodiscard]] std::string next_name() { return path_ + "/" + std::to_string(++count_); }

 private:
  StagingFolder(std::string path, FileDescriptor folder) noexcept
      : path_(std::move(path)), folder_(std::move(folder)) {}

  std::string path_;
  FileDescriptor folder_;
  std::size_t count_ = 0;
};

/// The list of files that killed processes left in some folders. Each folder is read once for all
/// files of a set, so that the time does not grow with the product of both counts.
class LeftOvers {
 public:
  /// Removes left-over new files for this path, unless a living process has them locked.
  void remove(const std::string& path);

  /// While a Use lives, new files of the calling thread look for left-overs in one common list. The
  /// list must outlive it.
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
  std::map<std::string, std::set<std::string>> names_;  // names by folder
};

/// Removes left-over new files for this path, with the list of the thread, or a list of its own.
void remove_left_overs(const std::string& path);

}  // namespace ingot::io
