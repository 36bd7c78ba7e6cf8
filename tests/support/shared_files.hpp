// SPDX-License-Identifier: MIT
// Test files that are too many or too large for the repository.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::test {

/// $INGOT_SHARED, or the folder `shared` beside the checkout.
[[nodiscard]] inline std::filesystem::path shared_folder() {
  if (const char* folder = std::getenv("INGOT_SHARED")) return folder;
  return std::filesystem::path(INGOT_SOURCE_DIR).parent_path() / "shared";
}

/// The files of a kind in a folder, sorted.
[[nodiscard]] inline std::vector<std::filesystem::path> files_in(
    const std::filesystem::path& folder, std::string_view extension) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::is_directory(folder)) return files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == extension) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// A test of files in the shared folder: skipped where they are missing, but not in CI.
class SharedFilesTest : public testing::Test {
 protected:
  void require_files(const std::filesystem::path& place) {
    if (std::filesystem::exists(place)) return;
    const char* ci = std::getenv("CI");
    if (ci != nullptr && std::string_view(ci) == "true") FAIL() << "there is no " << place;
    GTEST_SKIP() << "there is no " << place << "; set INGOT_SHARED";
  }
};

}  // namespace ingot::test
