// SPDX-License-Identifier: MIT
#include "ingot/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/hexadecimal.hpp"
#include "base/real_text.hpp"
#include "base/utf8.hpp"

namespace ingot {
namespace {

struct CodePointRange {
  char32_t first;
  char32_t last;
};

template <std::size_t count>
bool contains(const CodePointRange (&ranges)[count], char32_t code_point) noexcept {
  return std::any_of(ranges, ranges + count, [&](const CodePointRange& range) {
    return code_point >= range.first && code_point <= range.last;
  });
}

/// Characters that steer a terminal or hide in a text: controls, bidirectional controls, line
/// separators, every character that is drawn as nothing (Unicode's Default_Ignorable_Code_Point),
/// tags, private use and noncharacters.
constexpr CodePointRange unsafe_ranges[] = {
    {0x00, 0x1F},       {0x7F, 0x9F},       {0xAD, 0xAD},       {0x34F, 0x34F},
    {0x61C, 0x61C},     {0x115F, 0x1160},   {0x17B4, 0x17B5},   {0x180B, 0x180F},
    {0x200B, 0x200F},   {0x2028, 0x202E},   {0x2060, 0x206F},   {0x3164, 0x3164},
    {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0},   {0xFFF0, 0xFFFB},
    {0xFFFE, 0xFFFF},   {0xE000, 0xF8FF},   {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A},
    {0xE0000, 0xE0FFF}, {0xF0000, 0x10FFFF}};

/// Characters that take two columns (East Asian wide and emoji), in coarse ranges.
constexpr CodePointRange wide_ranges[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
    {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
    {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD}};

/// Marks that are drawn on the character before them.
constexpr CodePointRange combining_ranges[] = {
    {0x300, 0x36F}, {0x1AB0, 0x1AFF}, {0x20D0, 0x20FF}, {0xFE20, 0xFE2F}};

std::size_t columns_of(char32_t code_point) noexcept {
  if (code_point < 0x300) return 1;
  if (contains(combining_ranges, code_point)) return 0;
  return contains(wide_ranges, code_point) ? 2 : 1;
}

/// One piece of escaped text, which is never cut.
struct Piece {
  std::string text;
  std::size_t columns = 0;
  std::size_t source_bytes = 0;
};

Piece escaped(std::string text, std::size_t source_bytes) {
  const std::size_t columns = text.size();
  return {std::move(text), columns, source_bytes};
}

/// Escapes the first character of `text`, which is not empty.
Piece next_piece(std::string_view text) {
  const Utf8Character character = decode_utf8(text);
  if (character.size_bytes == 0) {
    return escaped("\\x" + hexadecimal(static_cast<unsigned char>(text[0]), 2), 1);
  }
  const std::size_t size_bytes = character.size_bytes;
  constexpr std::string_view named = "\\\n\r\t";
  constexpr std::string_view letters = "\\nrt";  // the letters are in the same order
  if (const std::size_t at = named.find(text[0]); at != std::string_view::npos) {
    return escaped(std::string("\\") + letters[at], size_bytes);
  }
  if (contains(unsafe_ranges, character.code_point)) {
    const auto number = static_cast<std::uint32_t>(character.code_point);
    return number < 0x80 ? escaped("\\x" + hexadecimal(number, 2), size_bytes)
                         : escaped("\\u{" + hexadecimal(number, 1) + "}", size_bytes);
  }
  return {std::string(text.substr(0, size_bytes)), columns_of(character.code_point), size_bytes};
}

/// Whether a byte is printable ASCII that stands for itself.
bool is_plain(char c) noexcept { return c >= ' ' && c <= '~' && c != '\\'; }

using EightBytes = std::uint64_t;
constexpr EightBytes each_byte = 0x0101'0101'0101'0101;
constexpr EightBytes high_bits = 0x80 * each_byte;

EightBytes load_eight(const char* text) noexcept {
  EightBytes eight = 0;
  std::memcpy(&eight, text, sizeof eight);
  return eight;
}

/// The number of bytes at the beginning of a text that are ASCII.
std::size_t ascii_prefix(std::string_view text) noexcept {
  std::size_t count = 0;
  while (count + sizeof(EightBytes) <= text.size() &&
         (load_eight(text.data() + count) & high_bits) == 0) {
    count += sizeof(EightBytes);
  }
  while (count < text.size() && static_cast<unsigned char>(text[count]) < 0x80) ++count;
  return count;
}

/// The number of bytes at the beginning of a text that are plain.
std::size_t plain_prefix(std::string_view text) noexcept {
  // The high bit of a byte is set where it is below 0x20, above 0x7E or a backslash; a borrow can
  // set one more, but only above a byte that is not plain itself.
  const auto not_plain = [](EightBytes eight) {
    const EightBytes backslash = eight ^ ('\\' * each_byte);
    return (((eight - ' ' * each_byte) & ~eight) | (eight + each_byte) | eight |
            ((backslash - each_byte) & ~backslash)) &
           high_bits;
  };
  std::size_t count = 0;
  while (count + sizeof(EightBytes) <= text.size() &&
         not_plain(load_eight(text.data() + count)) == 0) {
    count += sizeof(EightBytes);
  }
  while (count < text.size() && is_plain(text[count])) ++count;
  return count;
}

/// "4.58", "45.8", "458": three significant digits of a number below 1024.
std::string three_digits(double number) {
  const std::size_t decimals = number < 9.995 ? 2 : number < 99.95 ? 1 : 0;
  constexpr std::array<double, 3> powers = {1, 10, 100};
  std::string text = std::to_string(static_cast<int>(std::nearbyint(number * powers[decimals])));
  if (decimals == 0) return text;
  if (text.size() <= decimals) text.insert(0, decimals + 1 - text.size(), '0');
  return text.insert(text.size() - decimals, 1, '.');
}

template <std::size_t count>
std::string with_unit(std::uint64_t number, double step,
                      const std::array<std::string_view, count>& units) {
  double scaled = static_cast<double>(number);
  std::size_t unit = 0;
  // 999.5 would be printed as 1000 (and 1023.5 KiB as 1024), so it takes the next unit.
  while (unit + 1 < count && scaled >= step - 0.5) {
    scaled /= step;
    ++unit;
  }
  std::string text = unit == 0 ? std::to_string(number) : three_digits(scaled);
  if (!units[unit].empty()) text.append(" ").append(units[unit]);
  return text;
}

template <class Float>
std::string shortest(Float value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return shortest_real(value);
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    // Of two bytes are the letters by which vocabularies spell bytes beyond ASCII.
    const auto lead = static_cast<unsigned char>(text[0]);
    const bool is_pair = lead >= 0xC2 && lead < 0xE0 && text.size() >= 2 &&
                         (static_cast<unsigned char>(text[1]) & 0xC0) == 0x80;
    const std::size_t size_bytes = lead < 0x80 ? ascii_prefix(text)
                                   : is_pair   ? 2
                                               : decode_utf8(text).size_bytes;
    if (size_bytes == 0) return false;
    text.remove_prefix(size_bytes);
  }
  return true;
}

std::string escape(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t plain = plain_prefix(text);
    result.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const Piece piece = next_piece(text);
    result += piece.text;
    text.remove_prefix(piece.source_bytes);
  }
  return result;
}

std::string escape_shortened(std::string_view text, std::size_t max_columns) {
  if (text.size() <= max_columns && plain_prefix(text) == text.size()) return std::string(text);
  constexpr std::string_view ellipsis = "...";
  // Marks take no columns, and a hostile name can have any number of them.
  constexpr std::size_t max_bytes_per_column = 16;
  std::string result;
  std::size_t columns = 0;
  std::size_t cut = 0;  // where the text ends if it has to be cut
  while (!text.empty()) {
    const Piece piece = next_piece(text);
    const bool is_too_long = result.size() / max_bytes_per_column > max_columns;
    if (columns + piece.columns > max_columns || is_too_long) {
      result.resize(cut);
      return result.append(ellipsis.substr(0, max_columns));
    }
    result += piece.text;
    columns += piece.columns;
    if (columns + ellipsis.size() <= max_columns) cut = result.size();
    text.remove_prefix(piece.source_bytes);
  }
  return result;
}

std::size_t display_columns(std::string_view text) noexcept {
  std::size_t columns = ascii_prefix(text);
  text.remove_prefix(columns);
  while (!text.empty()) {
    const Utf8Character character = decode_utf8(text);
    columns += character.size_bytes == 0 ? 1 : columns_of(character.code_point);
    text.remove_prefix(std::max<std::size_t>(character.size_bytes, 1));
  }
  return columns;
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 7> units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  return with_unit(bytes, 1024, units);
}

std::string format_count(std::uint64_t count) {
  constexpr std::array<std::string_view, 7> units = {"", "K", "M", "B", "T", "P", "E"};
  return with_unit(count, 1000, units);
}

std::string format_digits(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, 1, ',');
  return text;
}

std::string format_float(float value) { return shortest(value); }
std::string format_float(double value) { return shortest(value); }

}  // namespace ingot
