// SPDX-License-Identifier: MIT
#include "ingot/error.hpp"

#include <array>

#include "base/messages.hpp"
#include "base/ranges.hpp"
#include "ingot/text.hpp"

namespace ingot {
namespace {

struct ErrorRow {
  Errc code;
  std::string_view name;
  ErrorCategory category;
  std::string_view sentence;
};

constexpr std::array rows = {
#define INGOT_ERROR(number, name, constant, category, sentence) \
  ErrorRow{Errc::name, #name, ErrorCategory::category, sentence},
#include "ingot/errors.def"
};

/// The row of a code; the row of `internal` for an unknown number.
const ErrorRow& row_of(Errc code) noexcept {
  const ErrorRow* const row = find_row(rows, &ErrorRow::code, code);
  return row != nullptr ? *row : rows.front();
}

}  // namespace

std::string_view name_of(Errc code) noexcept { return row_of(code).name; }
std::string_view sentence_of(Errc code) noexcept { return row_of(code).sentence; }
ErrorCategory category_of(Errc code) noexcept { return row_of(code).category; }

std::string Error::message() const {
  constexpr std::size_t max_detail_columns = 400;
  std::string text;
  const auto add_place = [&](std::string_view name) {
    if (!name.empty()) text += (text.empty() ? "" : " in ") + quoted_name(name);
  };
  add_place(subject);
  for (const std::string& place : context) add_place(place);
  if (file_offset != no_offset) {
    text += text.empty() ? "at byte " : " at byte ";
    text += std::to_string(file_offset);
  }
  if (!text.empty()) text += ": ";
  const std::string shown_detail = escape_shortened(detail, max_detail_columns);
  // The detail alone is enough.
  if (code == Errc::io_error && !detail.empty()) return text + shown_detail;
  text += sentence_of(code);
  if (!detail.empty()) text += " (" + shown_detail + ')';
  // An error without an offset is about something being made, not about a file that could be opened
  // leniently.
  if (category_of(code) == ErrorCategory::lenient && file_offset != no_offset) {
    text += "; opening it leniently (--lenient) accepts this";
  }
  return text;
}

}  // namespace ingot
