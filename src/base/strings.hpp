// SPDX-License-Identifier: MIT
// Texts: taken apart, joined, replaced and read as numbers.
#pragma once

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "ingot/text.hpp"

namespace ingot {

/// The text before the next `separator`, or all of it. The function removes both from `text`.
[[nodiscard]] inline std::string_view take_part(std::string_view& text, char separator) noexcept {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

/// Replaces `from` by `to` from left to right, in linear time. An empty `from` is never found.
inline void replace_all(std::string& text, std::string_view from, std::string_view to) {
  if (from.empty() || text.find(from) == text.npos) return;
  std::string replaced;
  std::string_view rest = text;
  for (std::size_t at = 0; (at = rest.find(from)) != rest.npos;) {
    replaced.append(rest.substr(0, at)).append(to);
    rest.remove_prefix(at + from.size());
  }
  text = std::move(replaced.append(rest));
}

/// Texts or whole numbers, with `separator` between two.
template <class Items>
[[nodiscard]] std::string joined(const Items& items, std::string_view separator = ", ") {
  std::string text;
  bool is_first = true;
  for (const auto& item : items) {
    if (!is_first) text += separator;
    is_first = false;
    if constexpr (std::integral<std::remove_cvref_t<decltype(item)>>) {
      text += std::to_string(item);
    } else {
      text += item;
    }
  }
  return text;
}

/// Whether the brackets of JSON, outside of its texts, are nested deeper than `most`: asked before
/// a parser that takes memory or stack for each level.
[[nodiscard]] inline bool is_json_deeper(std::string_view json, std::size_t most) noexcept {
  std::size_t depth = 0;
  bool is_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char character = json[i];
    if (is_text && character == '\\') {
      ++i;
    } else if (character == '"') {
      is_text = !is_text;
    } else if (!is_text && (character == '[' || character == '{')) {
      if (++depth > most) return true;
    } else if (!is_text && depth > 0 && (character == ']' || character == '}')) {
      --depth;
    }
  }
  return false;
}

/// The text with every CR LF and CR replaced by LF.
[[nodiscard]] inline std::string with_line_feeds(std::string text) {
  if (text.find('\r') == std::string::npos) return text;
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\r') {
      result += text[i];
    } else if (i + 1 == text.size() || text[i + 1] != '\n') {
      result += '\n';
    }
  }
  return result;
}

/// The number that the whole text spells; nothing if it spells none or the number does not fit.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) noexcept {
  Number number = 0;
  if constexpr (std::floating_point<Number>) {
    return read_float(text, number) ? std::optional(number) : std::nullopt;
  } else {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_whole = error == std::errc() && end == text.data() + text.size();
    return is_whole ? std::optional(number) : std::nullopt;
  }
}

}  // namespace ingot
