// SPDX-License-Identifier: MIT
// A value in a field: `%05.2f` and `{:>8,.2f}`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "chat/values/operations.hpp"

namespace ingot::chat {

struct FieldLayout {
  std::string fill = " ";
  char align = '\0';          ///< '<', '>', '^', or '=': between sign and digits; none: by type
  char sign = '-';            ///< '-', '+' or ' '
  bool is_alternate = false;  ///< #
  std::int64_t width = 0;
  char grouping = '\0';  ///< ',' or '_'
  std::int64_t precision = -1;
  char type = '\0';
};

/// The digits of a number as a type has them ("d", "x", "f", "g", "%", ...), with sign and prefix;
/// nothing, after a failure, for a type that is none of numbers or of this number.
[[nodiscard]] std::optional<std::string> number_digits(Heap& heap, const Value& number,
                                                       const FieldLayout& layout);

/// Appends `digits`, which may begin with a sign and a prefix, within the field.
[[nodiscard]] bool append_number(Heap& heap, std::string_view digits, std::uint8_t origin,
                                 const FieldLayout& layout);

/// Appends a string within the field, cut to the precision.
[[nodiscard]] bool append_text(Heap& heap, const Value& text, const FieldLayout& layout);

}  // namespace ingot::chat
