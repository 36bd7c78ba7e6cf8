// SPDX-License-Identifier: MIT
// The printable characters that stand for bytes in the vocabularies of byte-level BPE: 21-7E, A1-AC
// and AE-FF are themselves, the other 68 bytes are U+0100, U+0101 and so on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tokenizer/lenient_utf8.hpp"

namespace ingot::tokenizer {

struct ByteAlphabet {
  static constexpr char32_t character_count = 0x100 + 68;

  std::array<char32_t, 256> characters = {};                 ///< By byte.
  std::array<std::int16_t, character_count> bytes = {};      ///< By character; -1: stands for none.

  constexpr ByteAlphabet() {
    bytes.fill(-1);
    char32_t extra = 0x100;
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const bool is_printable =
          (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
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

/// The bytes that `token` stands for; nothing if it holds a character that stands for none.
[[nodiscard]] inline std::optional<std::string> bytes_of_token(std::string_view token) {
  std::string bytes;
  bytes.reserve(token.size());
  while (!token.empty()) {
    const LenientCharacter character = decode_lenient(token);
    const int byte = byte_of(character.code_point);
    if (byte < 0) return std::nullopt;
    bytes += static_cast<char>(byte);
    token.remove_prefix(character.size_bytes);
  }
  return bytes;
}

/// The characters that stand for `bytes`.
[[nodiscard]] inline std::string token_of_bytes(std::string_view bytes) {
  std::string token;
  for (const char byte : bytes) {
    append_utf8(token, byte_alphabet.characters[static_cast<unsigned char>(byte)]);
  }
  return token;
}

}  // namespace ingot::tokenizer
