// SPDX-License-Identifier: MIT
#include "chat/values/characters.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/hexadecimal.hpp"
#include "base/packed_rows.hpp"

namespace ingot::chat {
namespace {

struct ClassRow {
  char32_t first;
  CharacterClass character_class;
};

constexpr std::int32_t class_table[][2] = {
#define C(first, class) {0x##first, static_cast<std::int32_t>(CharacterClass::class)},
#include "chat/values/character_classes.def"
#undef C
};
const auto& classes() noexcept {
  static const auto rows = unpack_rows<class_table>([](const auto& row) {
    return ClassRow{static_cast<char32_t>(row[0]), static_cast<CharacterClass>(row[1])};
  });
  return rows;
}

/// Each `step`th character from first to last becomes itself + difference.
struct CaseRow {
  Case kind;
  char32_t first;
  char32_t last;
  std::uint32_t step;
  std::int32_t difference;
};

constexpr std::int32_t case_table[][5] = {
#define M(kind, first, last, step, difference) \
  {static_cast<std::int32_t>(Case::kind), 0x##first, 0x##last, step, difference},
#include "chat/values/character_cases.def"
#undef M
};
const auto& cases() noexcept {
  static const auto rows = unpack_rows<case_table>([](const auto& row) {
    return CaseRow{static_cast<Case>(row[0]), static_cast<char32_t>(row[1]),
                   static_cast<char32_t>(row[2]), static_cast<std::uint32_t>(row[3]), row[4]};
  });
  return rows;
}

struct Expansion {
  Case kind;
  char32_t first;
  std::string_view text;
};

constexpr Expansion expansions[] = {
#define E(kind, character, text) {Case::kind, 0x##character, text},
#include "chat/values/character_expansions.def"
#undef E
};

/// What the rows of both tables are sorted by.
template <class Row>
std::pair<Case, char32_t> place_of(const Row& row) noexcept {
  return {row.kind, row.first};
}

/// The text of a character whose case has several characters; empty for all others.
std::string_view expansion_of(Case wanted, char32_t code_point) noexcept {
  const std::pair place(wanted, code_point);
  const auto* row = std::ranges::lower_bound(expansions, place, {}, place_of<Expansion>);
  return row != std::end(expansions) && place_of(*row) == place ? row->text : std::string_view();
}

/// The character in another case; itself if the table has no row.
char32_t single_case(Case wanted, char32_t code_point) noexcept {
  const std::pair place(wanted, code_point);
  auto row = std::ranges::upper_bound(cases(), place, {}, place_of<CaseRow>);
  if (row == cases().begin() || (--row)->kind != wanted) return code_point;
  if (code_point > row->last || (code_point - row->first) % row->step != 0) return code_point;
  return static_cast<char32_t>(static_cast<std::int32_t>(code_point) + row->difference);
}

/// The case whose rows `wanted` adds to.
bool base_of(Case wanted, Case& base) noexcept {
  base = wanted == Case::title ? Case::upper : Case::lower;
  return wanted == Case::title || wanted == Case::folded;
}

constexpr char32_t capital_sigma = 0x3A3;

/// Whether a capital sigma at `place` ends a word, so that its lower case is the final form.
bool is_final_sigma(std::string_view text, std::size_t place) noexcept {
  const std::string_view after = text.substr(place + 2);
  const bool follows = place > 0 && is_cased(last_character(text.substr(0, place)).code_point);
  return follows && (after.empty() || !is_cased(first_character(after).code_point));
}

bool continues_character(char c) noexcept {
  return (static_cast<unsigned char>(c) & 0xC0u) == 0x80;
}

}  // namespace

Character last_character(std::string_view text) noexcept {
  for (std::size_t size = 1; size <= std::min<std::size_t>(4, text.size()); ++size) {
    const std::string_view end = text.substr(text.size() - size);
    const Character character = first_character(end);
    if (character.is_valid && character.size_bytes == size) return character;
  }
  return {static_cast<unsigned char>(text.back()), 1, false};
}

bool is_ascii(std::string_view text) noexcept {
  unsigned char all = 0;
  for (const char c : text) all |= static_cast<unsigned char>(c);
  return all < 0x80;
}

std::size_t count_characters(std::string_view text) noexcept {
  if (is_ascii(text)) return text.size();
  std::size_t count = 0;
  for (; !text.empty(); ++count) text.remove_prefix(first_character(text).size_bytes);
  return count;
}

std::size_t byte_of_character(std::string_view text, std::size_t index) noexcept {
  std::size_t byte = 0;
  for (; index > 0 && byte < text.size(); --index) {
    byte += first_character(text.substr(byte)).size_bytes;
  }
  return byte;
}

void append_character(std::string& text, char32_t code_point) {
  const auto lead = [&](std::uint32_t bits) { text += static_cast<char>(bits); };
  const auto tail = [&](std::uint32_t shift) {
    text += static_cast<char>(0x80u | ((code_point >> shift) & 0x3Fu));
  };
  if (code_point < 0x80) {
    lead(code_point);
  } else if (code_point < 0x800) {
    lead(0xC0u | (code_point >> 6)), tail(0);
  } else if (code_point < 0x10000) {
    lead(0xE0u | (code_point >> 12)), tail(6), tail(0);
  } else {
    lead(0xF0u | (code_point >> 18)), tail(12), tail(6), tail(0);
  }
}

std::string character_escape(char32_t code_point) {
  if (code_point < 0x100) return "\\x" + hexadecimal(code_point, 2);
  return code_point < 0x10000 ? "\\u" + hexadecimal(code_point, 4)
                              : "\\U" + hexadecimal(code_point, 8);
}

CharacterClass class_of(char32_t code_point) noexcept {
  const auto next = std::ranges::upper_bound(classes(), code_point, {}, &ClassRow::first);
  return std::prev(next)->character_class;
}

bool is_space(char32_t c) noexcept {
  if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_alphanumeric(char32_t code_point) noexcept {
  const CharacterClass found = class_of(code_point);
  return found != CharacterClass::other && found != CharacterClass::hidden;
}

CaseClass case_class_of(char32_t code_point) noexcept {
  if (code_point < 0x80) {
    const bool is_letter = lower_case(static_cast<char>(code_point)) >= 'a' &&
                           lower_case(static_cast<char>(code_point)) <= 'z';
    if (!is_letter) return CaseClass::none;
    return (code_point & 0x20u) == 0 ? CaseClass::upper : CaseClass::lower;
  }
  const auto changes = [&](Case wanted) {
    return single_case(wanted, code_point) != code_point ||
           !expansion_of(wanted, code_point).empty();
  };
  const bool has_lower = changes(Case::lower);
  const bool has_upper = changes(Case::upper);
  return has_lower && has_upper ? CaseClass::title
         : has_lower            ? CaseClass::upper
         : has_upper            ? CaseClass::lower
                                : CaseClass::none;
}

bool is_upper(char32_t code_point) noexcept {
  return case_class_of(code_point) == CaseClass::upper;
}

bool is_lower(char32_t code_point) noexcept {
  return case_class_of(code_point) == CaseClass::lower;
}

bool is_cased(char32_t code_point) noexcept { return case_class_of(code_point) != CaseClass::none; }

bool continues_name(char32_t code_point) noexcept {
  return code_point == '_' || is_alphanumeric(code_point);
}

void append_in_case(std::string& text, Case wanted, char32_t code_point) {
  if (code_point < 0x80) {
    const bool raises = wanted == Case::upper || wanted == Case::title;
    if (raises ? is_lower(code_point) : is_upper(code_point)) code_point ^= 0x20u;
    text += static_cast<char>(code_point);
    return;
  }
  // U+01C5 and others are what the title case of a pair of letters is made of.
  const bool is_title = wanted == Case::title && case_class_of(code_point) == CaseClass::title;
  Case base = wanted;
  for (bool has_more = !is_title; has_more; wanted = base) {
    const std::string_view several = expansion_of(wanted, code_point);
    if (!several.empty()) {
      text += several;
      return;
    }
    const char32_t changed = single_case(wanted, code_point);
    if (changed != code_point) {
      append_character(text, changed);
      return;
    }
    has_more = base_of(wanted, base);
  }
  append_character(text, code_point);
}

std::string in_case(std::string_view text, Case wanted) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t place = 0; place < text.size();) {
    const Character character = first_character(text.substr(place));
    if (!character.is_valid) {
      result += text[place];
    } else if (wanted == Case::lower && character.code_point == capital_sigma &&
               is_final_sigma(text, place)) {
      append_character(result, 0x3C2);
    } else {
      append_in_case(result, wanted, character.code_point);
    }
    place += character.size_bytes;
  }
  return result;
}

std::string_view strip_left(std::string_view text) noexcept {
  while (!text.empty()) {
    const Character character = first_character(text);
    if (!character.is_valid || !is_space(character.code_point)) break;
    text.remove_prefix(character.size_bytes);
  }
  return text;
}

std::string_view strip_right(std::string_view text) noexcept {
  while (!text.empty()) {
    const Character character = continues_character(text.back())
                                    ? last_character(text)
                                    : first_character(text.substr(text.size() - 1));
    if (!character.is_valid || !is_space(character.code_point)) break;
    text.remove_suffix(character.size_bytes);
  }
  return text;
}

}  // namespace ingot::chat
