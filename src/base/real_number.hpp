// SPDX-License-Identifier: MIT
// A number with a fraction, read from text.
#pragma once

#include <charconv>

#include "ingot/export.h"

namespace ingot {

/// Reads the double that is nearest to the decimal number at the beginning of a text, as
/// std::from_chars does. `format` is `general` or `fixed`, which ends before an exponent. Where the
/// number is out of range, `number` stays.
INGOT_EXPORT std::from_chars_result read_real(
    const char* first, const char* last, double& number,
    std::chars_format format = std::chars_format::general) noexcept;

/// The same where the standard library does not have std::from_chars for doubles. A NaN has no
/// digits behind it.
INGOT_EXPORT std::from_chars_result read_real_exactly(const char* first, const char* last,
                                                      double& number,
                                                      std::chars_format format) noexcept;
INGOT_EXPORT std::from_chars_result read_real_exactly(const char* first, const char* last,
                                                      float& number,
                                                      std::chars_format format) noexcept;

}  // namespace ingot
