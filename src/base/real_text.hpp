// SPDX-License-Identifier: MIT
// A number with a fraction as text, as std::to_chars writes it.
#pragma once

#include <string>

#include "ingot/export.h"

namespace ingot {

/// The number, which is finite, with `decimals` digits behind the point, like 12.50.
[[nodiscard]] INGOT_EXPORT std::string fixed_real(double number, int decimals);

/// The number, which is finite, with `decimals` digits behind the point and an exponent, like
/// 1.25e+01.
[[nodiscard]] INGOT_EXPORT std::string scientific_real(double number, int decimals);

/// The fewest digits that read back as the same number, with an exponent.
[[nodiscard]] INGOT_EXPORT std::string shortest_scientific(double number);

/// The same with an exponent or without, whatever is shorter.
[[nodiscard]] INGOT_EXPORT std::string shortest_real(double number);
[[nodiscard]] INGOT_EXPORT std::string shortest_real(float number);

/// The same characters without tables, slower: where the standard library does not have
/// std::to_chars for doubles, or no room for its 120 KB.
struct INGOT_EXPORT ExactReals {
  [[nodiscard]] static std::string fixed(double number, int decimals);
  [[nodiscard]] static std::string scientific(double number, int decimals);
  [[nodiscard]] static std::string shortest_scientific(double number);
  [[nodiscard]] static std::string shortest(double number);
  [[nodiscard]] static std::string shortest(float number);
};

}  // namespace ingot
