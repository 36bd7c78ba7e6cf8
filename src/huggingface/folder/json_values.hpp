// SPDX-License-Identifier: MIT
// Numbers of a model as numbers of JSON.
#pragma once

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/real_number.hpp"

namespace ingot::huggingface {

/// The number with the fewest digits that a reader of doubles rounds to this float: 1e-05 instead
/// of 9.999999747378752e-06.
[[nodiscard]] inline double short_double(float number) {
  std::array<char, 32> digits;
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  double shortened = 0;
  read_real(digits.data(), written.ptr, shortened);
  const bool is_same = static_cast<float>(shortened) == number;
  return is_same ? shortened : static_cast<double>(number);
}

/// Blanks for each level in the files of a folder.
inline constexpr int json_indent = 2;

/// The text of a value, whatever bytes its texts hold.
[[nodiscard]] inline std::string json_text(const nlohmann::ordered_json& value, int indent = -1) {
  return value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace ingot::huggingface
