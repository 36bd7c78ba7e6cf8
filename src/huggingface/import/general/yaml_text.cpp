// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/hexadecimal.hpp"
#include "base/utf8.hpp"
#include "ingot/model_card.hpp"
#include "ingot/text.hpp"

namespace ingot {
namespace {

/// Words that readers of YAML take for something else than a text.
constexpr std::array<std::string_view, 9> words = {"null", "true", "false", "yes", "no",
                                                   "on",   "off",  "y",     "n"};

bool is_plain(std::string_view text) {
  const auto is_inner = [](char c) {
    return is_letter_or_digit(c) || c == '-' || c == '.' || c == '/' || c == '_';
  };
  return !text.empty() && is_lower(text.front()) && std::ranges::all_of(text, is_inner) &&
         std::ranges::find(words, text) == words.end();
}

/// Whether a character may stand in a quoted text as it is: printable, safe for a terminal, and no
/// end of a line.
bool stands(char32_t code_point, std::string_view character) {
  const bool is_line_end = code_point == 0x2028 || code_point == 0x2029;
  const bool is_mark = code_point == 0xFEFF || (code_point >= 0xFFFE && code_point <= 0xFFFF);
  return code_point >= 0xA0 && !is_line_end && !is_mark && escape(character) == character;
}

}  // namespace

std::string yaml_scalar(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string quoted = "\"";
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.front());
    const Utf8Character character = decode_utf8(text);
    const std::size_t size = std::max<std::size_t>(character.size_bytes, 1);
    if (byte == '"' || byte == '\\') {
      quoted += '\\';
      quoted += text.front();
    } else if (byte >= 0x20 && byte < 0x7F) {
      quoted += text.front();
    } else if (size == 1) {
      quoted += "\\x" + hexadecimal(byte, 2, upper_hexadecimal_digits);
    } else if (stands(character.code_point, text.substr(0, size))) {
      quoted += text.substr(0, size);
    } else {
      const bool is_long = character.code_point > 0xFFFF;
      quoted += is_long ? "\\U" : "\\u";
      quoted += hexadecimal(character.code_point, is_long ? 8 : 4, upper_hexadecimal_digits);
    }
    text.remove_prefix(size);
  }
  return quoted + "\"";
}

}  // namespace ingot
