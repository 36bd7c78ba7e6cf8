// SPDX-License-Identifier: MIT
// Whether two paths name one file.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace ingot {

/// Whether two paths lead to the same file, also through hard or symbolic links. False if one of
/// them does not exist.
inline bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return !a.empty() && !b.empty() && std::filesystem::equivalent(a, b, ignored);
}

}  // namespace ingot
