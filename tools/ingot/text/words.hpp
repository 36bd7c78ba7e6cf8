// SPDX-License-Identifier: MIT
// Texts as people write them: lists, counted things, numbers, times, upper and lower case.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <ctime>
#include <ingot/text.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace ingot::cli {

/// The items as fmt writes them, with `separator` between two.
template <class Items>
std::string joined(const Items& items, std::string_view separator = " ") {
  std::string text;
  bool is_first = true;
  for (const auto& item : items) {
    if (!is_first) text += separator;
    text += fmt::format("{}", item);
    is_first = false;
  }
  return text;
}

/// The parts of a list like "24G,24G".
[[nodiscard]] inline std::vector<std::string> split_list(std::string_view text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// "1 warning", "3 warnings"
[[nodiscard]] inline std::string counted(std::uint64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

/// "1 byte", "32,000 bytes"
[[nodiscard]] inline std::string plural(std::uint64_t count, std::string_view one,
                                        std::string_view many) {
  return fmt::format("{} {}", format_digits(count), count == 1 ? one : many);
}

/// The number that the whole text spells; nothing if it spells none or the number does not fit.
template <class Number>
[[nodiscard]] std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  if constexpr (std::floating_point<Number>) {
    return read_float(text, number) ? std::optional(number) : std::nullopt;
  } else {
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && last == end ? std::optional(number) : std::nullopt;
  }
}

/// The number without sign or exponent that a text begins with, and its length; nothing if it has
/// more than 15 digits, with which the division rounds once.
[[nodiscard]] inline std::pair<double, std::size_t> leading_decimal(std::string_view text) {
  double number = 0;
  double scale = 1;
  std::size_t digits = 0;
  std::size_t size = 0;
  bool has_point = false;
  for (; size < text.size(); ++size) {
    const char c = text[size];
    if (c == '.' && !has_point) {
      has_point = true;
    } else if (c >= '0' && c <= '9') {
      number = 10 * number + (c - '0');
      if (has_point) scale *= 10;
      ++digits;
    } else {
      break;
    }
  }
  if (digits == 0 || digits > 15) return {0, 0};
  return {number / scale, size};
}

/// "2026-11-22 18:05", in the time of this place.
[[nodiscard]] inline std::string time_text(std::int64_t seconds) {
  const std::time_t time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  ::localtime_r(&time, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min);
}

/// The text with its ASCII letters in lower case.
[[nodiscard]] inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

/// The text in upper case.
[[nodiscard]] inline std::string upper_case(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

}  // namespace ingot::cli
