// SPDX-License-Identifier: MIT
// What was made of a release, and from what: why a second run need not make it again.
#pragma once

#include <ingot/error.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

/// The state of a release, in a file beside its folder, as none of it is to be uploaded.
class ReleaseState {
 public:
  /// A file that a step has made.
  struct Made {
    std::string path;
    std::string stamp;
  };
  struct Step {
    std::string inputs;  ///< A digest.
    std::vector<Made> files;
  };

  /// The file with the state of a folder.
  [[nodiscard]] static std::string path_of(const std::string& folder) {
    return folder + ".publish.json";
  }

  /// Reads the state of a folder; that of a new one is empty. Errc::invalid_argument if the file is
  /// none of these.
  [[nodiscard]] static Result<ReleaseState> read(const std::string& folder);

  /// Whether a release was begun in the folder.
  [[nodiscard]] bool is_begun() const noexcept { return is_begun_; }

  /// Why a step has to run; empty if its files are what the same inputs made.
  [[nodiscard]] std::string reason_to_run(const std::string& step, std::string_view inputs) const;

  /// The files that a step has made.
  [[nodiscard]] std::vector<std::string> files_of(const std::string& step) const;

  /// The names of files and folders in the folder that no step has made, in order.
  [[nodiscard]] std::vector<std::string> other_files(const std::string& folder) const;

  /// Records a step. Files that it made earlier, and no longer does, are removed.
  [[nodiscard]] Result<void> record(const std::string& step, const std::string& inputs,
                                    const std::vector<std::string>& files);

  /// Removes what steps other than these have made.
  [[nodiscard]] Result<void> keep_only(const std::vector<std::string>& steps);

  [[nodiscard]] Result<void> write() const;

 private:
  std::string path_;
  bool is_begun_ = false;
  std::map<std::string, Step> steps_;
};

}  // namespace ingot::cli
