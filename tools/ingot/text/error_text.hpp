// SPDX-License-Identifier: MIT
// Errors of a file in words.
#pragma once

#include <ingot/error.hpp>
#include <string>
#include <string_view>

namespace ingot::cli {

/// The error in one line, safe to print. A file that is cut off or of another kind is read again,
/// to say more than the reader could; `file` is empty or "-" if that is impossible.
[[nodiscard]] std::string error_text(std::string_view file, const Error& error);

/// A name from a file in a message, safe to print and short: a file may hold one of 10 MB.
[[nodiscard]] std::string shown_name(std::string_view name);

}  // namespace ingot::cli
