// SPDX-License-Identifier: MIT
// Whether two paths name one file.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace ingot {

/// By any name: links of both kinds count. False if one of them is not there.
inline bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  return !a.empty() && !b.empty() && std::filesystem::equivalent(a, b, ignored);
}

}  // namespace ingot
