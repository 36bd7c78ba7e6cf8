// SPDX-License-Identifier: MIT
// "1 byte", "2 bytes": counts in messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ingot/text.hpp"

namespace ingot {

/// A count and its noun, given in the singular, in the right number: "1,024 bytes".
[[nodiscard]] inline std::string plural(std::uint64_t count, std::string_view noun) {
  return format_digits(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace ingot
