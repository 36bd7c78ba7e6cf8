// SPDX-License-Identifier: MIT
// One character of UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace ingot {

struct Utf8Character {
  char32_t code_point = 0;
  std::size_t size_bytes = 0;  ///< 0 if the text does not begin with a well-formed character
};

/// Decodes the first character of `text`, which is not empty. Overlong forms, surrogates and
/// numbers above U+10FFFF are not well-formed. Source: RFC 3629.
[[nodiscard]] constexpr Utf8Character decode_utf8(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size_bytes = lead < 0xC2   ? 0
                                 : lead < 0xE0 ? 2
                                 : lead < 0xF0 ? 3
                                 : lead < 0xF5 ? 4
                                               : 0;
  if (size_bytes == 0 || text.size() < size_bytes) return {};
  char32_t code_point = lead & (0x7Fu >> size_bytes);
  for (std::size_t i = 1; i < size_bytes; ++i) {
    if ((byte(i) & 0xC0u) != 0x80) return {};
    code_point = (code_point << 6) | (byte(i) & 0x3Fu);
  }
  const bool is_overlong =
      (size_bytes == 3 && code_point < 0x800) || (size_bytes == 4 && code_point < 0x10000);
  const bool is_surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (is_overlong || is_surrogate || code_point > 0x10FFFF) return {};
  return {code_point, size_bytes};
}

}  // namespace ingot
