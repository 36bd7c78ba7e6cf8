// SPDX-License-Identifier: MIT
// A number with a fraction as text, without tables: the modules of the web have no room for the 120
// KB that std::to_chars needs for doubles. It gives the same characters, slower.
#pragma once

#include <string>

namespace ingot {

/// The number, which is finite, with `decimals` digits behind the point, like 12.50.
[[nodiscard]] std::string fixed_real(double number, int decimals);

/// The number, which is finite, with `decimals` digits behind the point and an exponent, like
/// 1.25e+01.
[[nodiscard]] std::string scientific_real(double number, int decimals);

/// The fewest digits that read back as the same number, with an exponent.
[[nodiscard]] std::string shortest_scientific(double number);
[[nodiscard]] std::string shortest_scientific(float number);

/// The same with an exponent or without, whatever is shorter.
[[nodiscard]] std::string shortest_real(double number);
[[nodiscard]] std::string shortest_real(float number);

}  // namespace ingot
