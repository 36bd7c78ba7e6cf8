// SPDX-License-Identifier: MIT
// Where the files of a set are kept while others take their names.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace ingot {

/// A set of files cannot be replaced at one moment. So its older files get these names first, then
/// the new ones theirs, and then the older ones are removed: at no moment do old and new files
/// stand beside each other under the names of the set, and what is cut off in between can be undone
/// by hand. The name is the same each time, so that it can be told where the files are.
inline std::string set_aside_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t name_begin = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(0, name_begin) + "." + path.substr(name_begin) + ".ingot-old";
}

/// Where a file that is missing went, if a process was killed while it replaced a set; else empty.
inline std::string set_aside_remark(const std::string& path) {
  const std::string other_name = set_aside_name(path);
  std::error_code ignored;
  if (!std::filesystem::exists(other_name, ignored)) return {};
  return "; replacing it was cut off, and the older file is " +
         std::filesystem::path(other_name).filename().string();
}

}  // namespace ingot
