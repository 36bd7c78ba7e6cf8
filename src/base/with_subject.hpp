// SPDX-License-Identifier: MIT
// Adds what a failure is about, or in, where its cause does not know it.
#pragma once

#include <algorithm>
#include <string>

#include "ingot/error.hpp"

namespace ingot {

/// Returns the result; a failure without a subject gets this one, and that of another subject is in
/// this one, too.
template <class T>
[[nodiscard]] Result<T> with_subject(const std::string& subject, Result<T> result) {
  if (result) return result;
  Error& error = result.error();
  if (error.subject.empty()) error.subject = subject;
  const bool is_named =
      error.subject == subject || std::ranges::find(error.context, subject) != error.context.end();
  if (!is_named) error.context.push_back(subject);
  return result;
}

}  // namespace ingot
