// SPDX-License-Identifier: MIT
// UTF-8 as engines read it: bytes that are not UTF-8 become U+FFFD, and forms that the standard
// forbids (overlong ones, surrogates) are decoded by their bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/unicode/code_point_map.hpp"

namespace ingot::tokenizer {

inline constexpr char32_t replacement_character = 0xFFFD;

/// U+2581, which stands for a space in many vocabularies.
inline constexpr std::string_view space_symbol = "\xE2\x96\x81";
inline constexpr char32_t space_character = 0x2581;

/// Whether a byte can only be inside a character of UTF-8.
[[nodiscard]] constexpr bool is_continuation(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

struct LenientCharacter {
  char32_t code_point = 0;
  std::size_t size_bytes = 0;  ///< The size, at least 1.
};

/// Bytes of the character that begins with `lead`, by its high four bits alone.
[[nodiscard]] constexpr std::size_t character_bytes(char lead) noexcept {
  // A digit for each value of those bits, the first one last: an array would be copied to the
  // stack.
  constexpr std::uint64_t sizes = 0x4322'1111'1111'1111;
  return sizes >> (static_cast<unsigned char>(lead) >> 4) * 4 & 0xF;
}

/// The first character of `text`, which is not empty. Bytes that cannot be decoded, and numbers
/// above U+10FFFF, give U+FFFD of one byte.
[[nodiscard]] constexpr LenientCharacter decode_lenient(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size_bytes = character_bytes(text[0]);
  if (lead < 0xC0 || lead >= 0xF8 || text.size() < size_bytes) return {replacement_character, 1};
  char32_t code_point = lead & (0x7Fu >> size_bytes);
  for (std::size_t i = 1; i < size_bytes; ++i) {
    if ((byte(i) & 0xC0u) != 0x80) return {replacement_character, 1};
    code_point = (code_point << 6) | (byte(i) & 0x3Fu);
  }
  if (code_point >= code_point_count) return {replacement_character, 1};
  return {code_point, size_bytes};
}

/// Whether a character that was decoded was UTF-8, in as few bytes as it needs.
[[nodiscard]] constexpr bool is_shortest(const LenientCharacter& character) noexcept {
  // The smallest code point for each number of bytes.
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  return character.size_bytes == 1 ? character.code_point < 0x80
                                   : character.code_point >= smallest[character.size_bytes];
}

/// The code point of a text that is one character, in as few bytes as UTF-8 needs for it.
[[nodiscard]] constexpr std::optional<char32_t> decode_single(std::string_view text) noexcept {
  if (text.empty()) return std::nullopt;
  const LenientCharacter character = decode_lenient(text);
  if (character.size_bytes != text.size() || !is_shortest(character)) return std::nullopt;
  return character.code_point;
}

/// The character that ends at a place of `text`, which is not its beginning; its size is 0 if the
/// bytes before the place are not UTF-8.
[[nodiscard]] constexpr LenientCharacter character_before(std::string_view text,
                                                          std::size_t place) noexcept {
  for (std::size_t size = 1; size <= std::min<std::size_t>(place, 4); ++size) {
    const std::string_view bytes = text.substr(place - size, size);
    if (is_continuation(bytes[0])) continue;
    const LenientCharacter character = decode_lenient(bytes);
    return character.size_bytes == size ? character : LenientCharacter();
  }
  return {};
}

/// The first character of text that is known to be the output of append_utf8.
[[nodiscard]] inline LenientCharacter decode_clean(const char* text) noexcept {
  const auto byte = [&](std::size_t i) -> char32_t { return static_cast<unsigned char>(text[i]); };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {(lead & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if (lead < 0xF0) return {(lead & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F), 3};
  return {(lead & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F),
          4};
}

/// Appends the shortest form of a code point; surrogates are written like any other.
void append_utf8(std::string& text, char32_t code_point);

/// Whether decoding leniently and encoding again would change nothing.
[[nodiscard]] bool is_clean(std::string_view text) noexcept;

/// A text that was changed before it is tokenized, and where its bytes came from.
struct NormalizedText {
  std::string text;
  /// The offset in the source of each byte, and that of the end; left empty unless `keeps_origins`.
  std::vector<std::size_t> origins;
  bool keeps_origins = false;

  void clear() {
    text.clear();
    origins.clear();
  }
  /// Says that all bytes appended since the last call came from `source`.
  void mark(std::size_t source) {
    if (keeps_origins) origins.resize(text.size(), source);
  }
};

/// Decodes leniently and encodes again.
void clean(std::string_view text, NormalizedText& result);

/// Puts the space symbol in the place of every space, and one more before the text if
/// `has_prefix`.
void replace_spaces(std::string_view text, bool has_prefix, NormalizedText& result);

}  // namespace ingot::tokenizer
