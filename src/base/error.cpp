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

struct AdviceRow {
  Errc code;
  std::string_view advice;
};

constexpr std::array advice_rows = {
#define INGOT_ERROR_ADVICE(name, advice) AdviceRow{Errc::name, advice},
#include "ingot/errors.def"
};

constexpr std::array remedy_names = {
#define INGOT_REMEDY(name, meaning) std::string_view(#name),
#include "ingot/remedies.def"
};

/// The row of a code; the row of `internal` for an unknown number.
const ErrorRow& row_of(Errc code) noexcept {
  const ErrorRow* const row = find_row(rows, &ErrorRow::code, code);
  return row != nullptr ? *row : rows.front();
}

}  // namespace

std::string_view name_of(Errc code) noexcept { return row_of(code).name; }
std::string_view sentence_of(Errc code) noexcept { return row_of(code).sentence; }
std::string_view advice_of(Errc code) noexcept {
  const AdviceRow* const row = find_row(advice_rows, &AdviceRow::code, code);
  return row != nullptr ? row->advice : std::string_view();
}
ErrorCategory category_of(Errc code) noexcept { return row_of(code).category; }

std::string_view name_of(Remedy remedy) noexcept { return name_at(remedy_names, remedy); }

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
  std::string found = line == 0 ? std::string() : "line " + std::to_string(line);
  if (column != 0) found += ", column " + std::to_string(column);
  if (line != 0 && !detail.empty()) found += ": ";
  found += escape_shortened(detail, max_detail_columns);
  // The detail alone is enough.
  if (code == Errc::io_error && !detail.empty()) return text + found;
  text += sentence_of(code);
  if (const std::string_view advice = advice_of(code); !advice.empty()) {
    text.append("; ").append(advice);
  }
  if (!found.empty()) text += " (" + found + ')';
  // An error without an offset is about something being made, not about a file that could be opened
  // leniently.
  if (category_of(code) == ErrorCategory::lenient && file_offset != no_offset) {
    text += "; opening it leniently (--lenient) accepts this";
  }
  return text;
}

}  // namespace ingot
