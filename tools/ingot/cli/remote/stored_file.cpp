// SPDX-License-Identifier: MIT
#include "cli/remote/stored_file.hpp"

#include <filesystem>
#include <string_view>
#include <system_error>

namespace ingot::cli {

bool is_stored_by_content(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path file = std::filesystem::canonical(path, ignored);
  // In blobs/ lies what other names lead to. Where a system has no links, the hub's cache holds
  // files below their commits: models--ORG--REPO/snapshots/COMMIT/FILE.
  std::filesystem::path parent;
  for (const std::filesystem::path& part : file.parent_path()) {
    const bool is_store =
        part == "blobs" || (part == "snapshots" && parent.generic_string().starts_with("models--"));
    if (is_store) return true;
    parent = part;
  }
  return false;
}

}  // namespace ingot::cli
