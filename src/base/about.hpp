// SPDX-License-Identifier: MIT
// Says what a failure is about, where whoever failed could not know it.
#pragma once

#include <string>

#include "ingot/error.hpp"

namespace ingot {

/// The result; a failure without a subject gets this one: that of a tensor or a key stays.
template <class T>
[[nodiscard]] Result<T> about(const std::string& subject, Result<T> result) {
  if (!result && result.error().subject.empty()) result.error().subject = subject;
  return result;
}

}  // namespace ingot
