// SPDX-License-Identifier: MIT
// Options that help against what bump files cannot hold.
#pragma once

#include <ingot/error.hpp>
#include <string_view>

namespace ingot::cli {

/// The option that would help against what was refused; empty if none would.
[[nodiscard]] std::string_view bump_hint(const Error& error);

}  // namespace ingot::cli
