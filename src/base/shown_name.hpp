// SPDX-License-Identifier: MIT
// Names from files, in messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ingot/text.hpp"

namespace ingot {

/// A file may hold a name of 10 MB, and each rule may print it; nobody reads more of it than this.
inline constexpr std::size_t max_name_columns = 160;

/// A name, safe to print and short.
inline std::string shown_name(std::string_view name) {
  return escape_shortened(name, max_name_columns);
}

/// The shortened name in quotes that none of its own characters can end.
inline std::string quoted_name(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : shown_name(name)) {
    if (c == '"') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace ingot
