// SPDX-License-Identifier: MIT
// The names under which files of a set are kept while others take their names.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace ingot {

/// A set of files cannot be replaced in one step. First its older files get these names, then the
/// new files get theirs, and then the older files are removed. Old and new files never stand side
/// by side under the names of the set, and an interrupted replacement can be undone by hand. The
/// name is predictable, so that a message can say where the files are.
inline std::string set_aside_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::size_t name_begin = slash == std::string::npos ? 0 : slash + 1;
  return path.substr(0, name_begin) + "." + path.substr(name_begin) + ".ingot-old";
}

/// A remark that says where a missing file is, if a process was killed while it replaced a set;
/// else empty.
inline std::string set_aside_remark(const std::string& path) {
  const std::string other_name = set_aside_name(path);
  std::error_code ignored;
  if (!std::filesystem::exists(other_name, ignored)) return {};
  return "; replacing it was cut off, and the older file is " +
         std::filesystem::path(other_name).filename().string();
}

}  // namespace ingot
