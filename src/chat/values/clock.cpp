// SPDX-License-Identifier: MIT
#include "chat/values/clock.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <ctime>

#include "base/ranges.hpp"
#include "chat/values/characters.hpp"

namespace ingot {
namespace chat {
namespace {

constexpr std::array<std::string_view, 7> days = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                  "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> months = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};

constexpr std::size_t short_name = 3;

/// A time, and what follows from it.
struct FullTime {
  ChatTime time;
  int weekday = 0;      ///< from Sunday
  int day_of_year = 1;  ///< from 1
  int iso_year = 0;
  int iso_week = 1;
};

int days_before_year(int year) {
  return 365 * (year - 1) + (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400;
}

bool is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int days_of_month(int year, int month) {
  constexpr std::array<int, 12> lengths = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return lengths[static_cast<std::size_t>(month - 1)] + (month == 2 && is_leap(year) ? 1 : 0);
}

/// Weeks of ISO 8601: the first one has the year's first Thursday.
int iso_weeks_of(int year) {
  const int first_weekday = (days_before_year(year) + 1) % 7;
  return first_weekday == 4 || (is_leap(year) && first_weekday == 3) ? 53 : 52;
}

FullTime full(const ChatTime& time) {
  FullTime result;
  result.time = time;
  for (int month = 1; month < time.month; ++month) {
    result.day_of_year += days_of_month(time.year, month);
  }
  result.day_of_year += time.day - 1;
  result.weekday = (days_before_year(time.year) + result.day_of_year) % 7;
  const int iso_weekday = result.weekday == 0 ? 7 : result.weekday;
  result.iso_year = time.year;
  result.iso_week = (result.day_of_year - iso_weekday + 10) / 7;
  if (result.iso_week < 1) {
    result.iso_week = iso_weeks_of(--result.iso_year);
  } else if (result.iso_week > iso_weeks_of(time.year)) {
    ++result.iso_year;
    result.iso_week = 1;
  }
  return result;
}

/// A number to a width; the flag changes what fills it: '-' nothing, '_' spaces, '0' zeros.
std::string padded(int number, std::size_t width, char fill, char flag) {
  std::string text = std::to_string(number);
  if (flag == '-') return text;
  if (flag == '_') fill = ' ';
  if (flag == '0') fill = '0';
  if (text.size() < width) text.insert(0, width - text.size(), fill);
  return text;
}

int hour_of_twelve(int hour) { return hour % 12 == 0 ? 12 : hour % 12; }

/// A directive that stands for several others.
struct Expanded {
  char directive;
  std::string_view format;
};

constexpr Expanded expanded[] = {
    {'c', "%a %b %e %H:%M:%S %Y"},
    {'D', "%m/%d/%y"},
    {'F', "%Y-%m-%d"},
    {'r', "%I:%M:%S %p"},
    {'R', "%H:%M"},
    {'T', "%H:%M:%S"},
    {'x', "%m/%d/%y"},
    {'X', "%H:%M:%S"},
};

/// A directive that writes a number.
struct Numeric {
  char directive;
  std::size_t width;
  char fill;
  int (*number)(const FullTime& now);
};

constexpr Numeric numerics[] = {
    {'C', 2, '0', [](const FullTime& now) { return now.time.year / 100; }},
    {'d', 2, '0', [](const FullTime& now) { return now.time.day; }},
    {'e', 2, ' ', [](const FullTime& now) { return now.time.day; }},
    {'f', 6, '0', [](const FullTime&) { return 0; }},
    {'g', 2, '0', [](const FullTime& now) { return now.iso_year % 100; }},
    {'G', 1, '0', [](const FullTime& now) { return now.iso_year; }},
    {'H', 2, '0', [](const FullTime& now) { return now.time.hour; }},
    {'I', 2, '0', [](const FullTime& now) { return hour_of_twelve(now.time.hour); }},
    {'j', 3, '0', [](const FullTime& now) { return now.day_of_year; }},
    {'k', 2, ' ', [](const FullTime& now) { return now.time.hour; }},
    {'l', 2, ' ', [](const FullTime& now) { return hour_of_twelve(now.time.hour); }},
    {'m', 2, '0', [](const FullTime& now) { return now.time.month; }},
    {'M', 2, '0', [](const FullTime& now) { return now.time.minute; }},
    {'S', 2, '0', [](const FullTime& now) { return now.time.second; }},
    {'u', 1, '0', [](const FullTime& now) { return now.weekday == 0 ? 7 : now.weekday; }},
    {'U', 2, '0', [](const FullTime& now) { return (now.day_of_year + 6 - now.weekday) / 7; }},
    {'V', 2, '0', [](const FullTime& now) { return now.iso_week; }},
    {'w', 1, '0', [](const FullTime& now) { return now.weekday; }},
    {'W', 2, '0',
     [](const FullTime& now) { return (now.day_of_year + 6 - (now.weekday + 6) % 7) / 7; }},
    {'y', 2, '0', [](const FullTime& now) { return now.time.year % 100; }},
    {'Y', 1, '0', [](const FullTime& now) { return now.time.year; }},
};

bool append_name(std::string& text, const FullTime& now, char directive, char flag) {
  const std::string_view day = days[static_cast<std::size_t>(now.weekday)];
  const std::string_view month = months[static_cast<std::size_t>(now.time.month - 1)];
  const bool is_afternoon = now.time.hour >= 12;
  const auto put = [&](std::string_view name) {
    text += flag == '^' ? in_case(name, Case::upper) : std::string(name);
    return true;
  };
  switch (directive) {
    case 'a':
      return put(day.substr(0, short_name));
    case 'A':
      return put(day);
    case 'b':
    case 'h':
      return put(month.substr(0, short_name));
    case 'B':
      return put(month);
    case 'p':
      return put(flag == '#' ? (is_afternoon ? "pm" : "am") : (is_afternoon ? "PM" : "AM"));
    case 'P':
      return put(is_afternoon ? "pm" : "am");
    case 'n':
      return put("\n");
    case 't':
      return put("\t");
    case '%':
      return put("%");
    case 'z':
    case 'Z':
      return true;  // a time without zone, as in Python
    default:
      return false;
  }
}

void append_time(std::string& text, std::string_view format, const FullTime& now) {
  constexpr std::string_view flags = "-_0^#";
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%') {
      text += format[at];
      continue;
    }
    std::size_t letter = at + 1;
    char flag = '\0';
    while (letter < format.size() && flags.find(format[letter]) != std::string_view::npos) {
      flag = format[letter++];
    }
    const char directive = letter < format.size() ? format[letter] : '\0';
    if (const Expanded* row = find_row(expanded, &Expanded::directive, directive)) {
      append_time(text, row->format, now);
    } else if (const Numeric* numeric = find_row(numerics, &Numeric::directive, directive)) {
      text += padded(numeric->number(now), numeric->width, numeric->fill, flag);
    } else if (!append_name(text, now, directive, flag)) {
      text += format.substr(at, letter + 1 - at);
    }
    at = letter;
  }
}

/// The next number of a time; false if there is none within its bounds.
bool read_field(std::string_view& text, std::string_view separator, int low, int high,
                int& number) {
  if (!text.starts_with(separator)) return false;
  text.remove_prefix(separator.size());
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec != std::errc() || number < low || number > high) return false;
  text.remove_prefix(static_cast<std::size_t>(end.ptr - text.data()));
  return true;
}

}  // namespace

ChatTime local_time() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts = {};
  if (localtime_r(&now, &parts) == nullptr) return {};
  return {parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
          parts.tm_hour,        parts.tm_min,     parts.tm_sec};
}

std::string format_time(std::string_view format, const ChatTime& time) {
  ChatTime valid = time;
  valid.year = std::clamp(time.year, 1, 9999);
  valid.month = std::clamp(time.month, 1, 12);
  valid.day = std::clamp(time.day, 1, days_of_month(valid.year, valid.month));
  valid.hour = std::clamp(time.hour, 0, 23);
  valid.minute = std::clamp(time.minute, 0, 59);
  valid.second = std::clamp(time.second, 0, 60);
  std::string text;
  append_time(text, format, full(valid));
  return text;
}

}  // namespace chat

Result<ChatTime> parse_chat_time(std::string_view text) {
  ChatTime time;
  std::string_view rest = text;
  bool is_time = chat::read_field(rest, "", 1, 9999, time.year) &&
                 chat::read_field(rest, "-", 1, 12, time.month) &&
                 chat::read_field(rest, "-", 1, 31, time.day) &&
                 time.day <= chat::days_of_month(time.year, time.month);
  if (is_time && !rest.empty()) {
    is_time = chat::read_field(rest, rest.starts_with(' ') ? " " : "T", 0, 23, time.hour) &&
              chat::read_field(rest, ":", 0, 59, time.minute);
    if (is_time && !rest.empty()) is_time = chat::read_field(rest, ":", 0, 60, time.second);
  }
  if (is_time && rest.empty()) return time;
  return fail(Errc::invalid_argument, std::string(text),
              "a time is written 2025-07-04T05:06:07 or 2025-07-04");
}

}  // namespace ingot
