// SPDX-License-Identifier: MIT
// Things in the singular or the plural.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <ingot/text.hpp>
#include <string>
#include <string_view>

namespace ingot::cli {

/// "1 warning", "3 warnings"
[[nodiscard]] inline std::string counted(std::uint64_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

/// "1 byte", "32,000 bytes"
[[nodiscard]] inline std::string plural(std::uint64_t count, std::string_view one,
                                        std::string_view many) {
  return fmt::format("{} {}", format_digits(count), count == 1 ? one : many);
}

}  // namespace ingot::cli
