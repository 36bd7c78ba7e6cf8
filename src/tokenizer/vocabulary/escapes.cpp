// SPDX-License-Identifier: MIT
#include "tokenizer/vocabulary/escapes.hpp"

namespace ingot::tokenizer {
namespace {

int digit_of(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

/// The number that two hexadecimal digits spell; -1 if these are not two.
int byte_of_digits(std::string_view digits) noexcept {
  if (digits.size() != 2) return -1;
  const int high = digit_of(digits[0]);
  const int low = digit_of(digits[1]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

}  // namespace

int byte_of_token(std::string_view text) noexcept {
  const bool has_form = text.size() == 6 && text.starts_with("<0x") && text.ends_with('>');
  return has_form ? byte_of_digits(text.substr(3, 2)) : -1;
}

std::string token_of_byte(unsigned char byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  return {'<', '0', 'x', digits[byte >> 4], digits[byte & 15], '>'};
}

std::string unescape(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      bytes += text[i];
      continue;
    }
    const char letter = text[++i];
    if (letter == 'x') {
      const int byte = byte_of_digits(text.substr(i + 1, 2));
      bytes += byte < 0 ? 'x' : static_cast<char>(byte);
      if (byte >= 0) i += 2;
    } else {
      bytes += letter == 't' ? '\t' : letter == 'n' ? '\n' : letter == 'r' ? '\r' : letter;
    }
  }
  return bytes;
}

}  // namespace ingot::tokenizer
