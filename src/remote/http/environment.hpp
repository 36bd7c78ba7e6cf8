// SPDX-License-Identifier: MIT
// Variables of the environment.
#pragma once

#include <cstdlib>
#include <string>

namespace ingot::remote {

/// The value of a variable; empty if there is none.
[[nodiscard]] inline std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace ingot::remote
