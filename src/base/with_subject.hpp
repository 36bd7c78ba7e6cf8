// SPDX-License-Identifier: MIT
// Adds a subject to an error raised where the subject is unknown.
#pragma once

#include <string>

#include "ingot/error.hpp"

namespace ingot {

/// Returns the result; a failure without a subject gets this one.
template <class T>
[[nodiscard]] Result<T> with_subject(const std::string& subject, Result<T> result) {
  if (!result && result.error().subject.empty()) result.error().subject = subject;
  return result;
}

}  // namespace ingot
