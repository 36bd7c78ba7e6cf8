// SPDX-License-Identifier: MIT
#include "tokenizer/vocabulary/escapes.hpp"

#include "base/hexadecimal.hpp"

namespace ingot::tokenizer {

std::string token_of_byte(unsigned char byte) {
  return "<0x" + hexadecimal(byte, 2, upper_hexadecimal_digits) + ">";
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
      const auto byte = byte_of_hexadecimal(text.substr(i + 1, 2));
      bytes += byte.value_or('x');
      if (byte) i += 2;
    } else {
      bytes += letter == 't' ? '\t' : letter == 'n' ? '\n' : letter == 'r' ? '\r' : letter;
    }
  }
  return bytes;
}

}  // namespace ingot::tokenizer
