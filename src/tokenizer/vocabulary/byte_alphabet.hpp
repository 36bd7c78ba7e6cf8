// SPDX-License-Identifier: MIT
// The printable characters that stand for bytes in the vocabularies of byte-level BPE: 21-7E, A1-AC
// and AE-FF are themselves, the other 68 bytes are U+0100, U+0101 and so on.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "tokenizer/unicode/lenient_utf8.hpp"

namespace ingot::tokenizer {

struct ByteAlphabet {
  static constexpr char32_t character_count = 0x100 + 68;

  std::array<char32_t, 256> characters = {};             ///< The characters by byte.
  std::array<std::int16_t, character_count> bytes = {};  ///< The bytes by character; -1 if it
                                                         ///< stands for none.

  constexpr ByteAlphabet() {
    bytes.fill(-1);
    char32_t extra = 0x100;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const bool is_printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
      characters[byte] = is_printable ? static_cast<char32_t>(byte) : extra++;
      bytes[characters[byte]] = static_cast<std::int16_t>(byte);
    }
  }
};
inline constexpr ByteAlphabet byte_alphabet;

/// The byte that a character stands for; -1 if it stands for none.
[[nodiscard]] constexpr int byte_of(char32_t character) noexcept {
  return character < ByteAlphabet::character_count ? byte_alphabet.bytes[character] : -1;
}

/// Calls `take(byte)` for the bytes of the characters that stand for `bytes`.
template <class Take>
void spell_bytes(std::string_view bytes, const Take& take) {
  for (const char byte : bytes) {
    const char32_t character = byte_alphabet.characters[static_cast<unsigned char>(byte)];
    if (character < 0x80) {
      take(static_cast<char>(character));
    } else {
      take(static_cast<char>(0xC0 | (character >> 6)));
      take(static_cast<char>(0x80 | (character & 0x3F)));
    }
  }
}

/// The characters that stand for `bytes`.
[[nodiscard]] inline std::string token_of_bytes(std::string_view bytes) {
  std::string token;
  spell_bytes(bytes, [&](char byte) { token += byte; });
  return token;
}

}  // namespace ingot::tokenizer
