// SPDX-License-Identifier: MIT
// Which file a path names, and where an older file of a set is kept.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace ingot {

/// Whether two paths lead to the same file, also through hard or symbolic links. False if one of
/// them does not exist.
inline bool is_same_file(const std::string& a, const std::string& b) {
#ifdef __cpp_lib_filesystem
  std::error_code ignored;
  return !a.empty() && !b.empty() && std::filesystem::equivalent(a, b, ignored);
#else
  return !a.empty() && a == b;
#endif
}

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
#ifdef __cpp_lib_filesystem
  const std::string other_name = set_aside_name(path);
  std::error_code ignored;
  if (!std::filesystem::exists(other_name, ignored)) return {};
  return "; replacing it was cut off, and the older file is " +
         std::filesystem::path(other_name).filename().generic_string();
#else
  static_cast<void>(path);
  return {};
#endif
}

}  // namespace ingot
