// SPDX-License-Identifier: MIT
// Helpers for the fields of a header that is parsed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/cursor.hpp"
#include "format/parse.hpp"
#include "ingot/error.hpp"
#include "ingot/text.hpp"

namespace ingot::format {

inline std::string found(std::uint64_t number) { return "found " + std::to_string(number); }

/// The error for a field that ends behind the available bytes.
[[nodiscard]] inline Failure ends_early(const Cursor& cursor, std::string_view subject) {
  return fail(Errc::truncated, cursor.position(), std::string(subject),
              std::to_string(cursor.missing_bytes()) + " more bytes are needed here");
}

/// Whether a name denotes the same thing to every reader.
[[nodiscard]] inline bool is_identifier(std::string_view name) noexcept {
  return is_utf8(name) && name.find('\0') == std::string_view::npos;
}

/// Strips the NUL that old writers counted as part of a string.
[[nodiscard]] inline std::string_view strip(Structure& structure, std::string_view text) {
  const std::string_view stripped = structure.context->encoding.text(
      reinterpret_cast<const std::byte*>(text.data()), text.size());
  if (stripped.size() != text.size()) structure.has_stripped_nul = true;
  return stripped;
}

}  // namespace ingot::format
