// SPDX-License-Identifier: MIT
// Characters that a user writes as \n, \t or \x41.
#pragma once

#include <ingot/error.hpp>
#include <string>
#include <string_view>

namespace ingot::cli {

/// The text with \n \t \r \\ \' \" and \xHH resolved. Errc::invalid_argument for any other escape.
[[nodiscard]] Result<std::string> resolve_escapes(std::string_view text);

}  // namespace ingot::cli
