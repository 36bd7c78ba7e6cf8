// SPDX-License-Identifier: MIT
#include "tokenizer/unicode/lenient_utf8.hpp"

#include <algorithm>
#include <bit>

#include "base/byte_order.hpp"

namespace ingot::tokenizer {

void append_utf8(std::string& text, char32_t code_point) {
  const auto tail = [&](unsigned shift) {
    return static_cast<char>(0x80 | ((code_point >> shift) & 0x3F));
  };
  if (code_point < 0x80) {
    text += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    text += static_cast<char>(0xC0 | (code_point >> 6));
    text += tail(0);
  } else if (code_point < 0x10000) {
    text += static_cast<char>(0xE0 | (code_point >> 12));
    text += tail(6);
    text += tail(0);
  } else {
    text += static_cast<char>(0xF0 | (code_point >> 18));
    text += tail(12);
    text += tail(6);
    text += tail(0);
  }
}

namespace {

/// Bytes at the beginning of a word of eight, the first byte lowest, that are ASCII or one clean
/// character of two or three bytes; 0 if there is something else.
std::size_t clean_bytes(std::uint64_t word) noexcept {
  const std::uint64_t beyond_ascii = word & 0x8080'8080'8080'8080;
  if (beyond_ascii == 0) return 8;
  if ((word & 0x80) == 0) return static_cast<std::size_t>(std::countr_zero(beyond_ascii)) / 8;
  // Tests the bits that mark lead and continuation, then bits of which one must be set if the
  // character needs this length.
  if ((word & 0xC0'C0F0) == 0x80'80E0) return (word & 0x200F) == 0 ? 0 : 3;
  if ((word & 0xC0E0) == 0x80C0) return (word & 0x1E) == 0 ? 0 : 2;
  return 0;
}

}  // namespace

bool is_clean(std::string_view text) noexcept {
  for (std::size_t i = 0; i < text.size();) {
    if (text.size() - i >= 8) {
      const auto* data = reinterpret_cast<const std::byte*>(text.data() + i);
      const std::size_t skipped = clean_bytes(load_little<std::uint64_t>(data));
      i += skipped;
      if (skipped != 0) continue;
    }
    const LenientCharacter character = decode_lenient(text.substr(i));
    if (!is_shortest(character)) return false;
    i += character.size_bytes;
  }
  return true;
}

void clean(std::string_view text, NormalizedText& result) {
  result.clear();
  for (std::size_t i = 0; i < text.size();) {
    const LenientCharacter character = decode_lenient(text.substr(i));
    append_utf8(result.text, character.code_point);
    result.mark(i);
    i += character.size_bytes;
  }
  if (result.keeps_origins) result.origins.push_back(text.size());
}

void replace_spaces(std::string_view text, bool has_prefix, NormalizedText& result) {
  result.clear();
  if (has_prefix) result.text += space_symbol;
  result.mark(0);
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t space = std::min(text.find(' ', i), text.size());
    for (; result.keeps_origins && i < space; ++i) {
      result.text += text[i];
      result.mark(i);
    }
    result.text.append(text.substr(i, space - i));
    i = space;
    if (i == text.size()) break;
    result.text += space_symbol;
    result.mark(i++);
  }
  if (result.keeps_origins) result.origins.push_back(text.size());
}

}  // namespace ingot::tokenizer
