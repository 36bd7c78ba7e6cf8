// SPDX-License-Identifier: MIT
// Parts of messages: names from files, counts, the subject of an error.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ingot/error.hpp"
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

/// A count and its noun, given in the singular, in the right number: "1,024 bytes".
[[nodiscard]] inline std::string plural(std::uint64_t count, std::string_view noun) {
  return format_digits(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

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
