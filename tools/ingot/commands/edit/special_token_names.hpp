// SPDX-License-Identifier: MIT
// The names that users give to special tokens.
#pragma once

#include <string>
#include <vector>

namespace ingot::cli {

/// All names that a special token has for users.
[[nodiscard]] std::vector<std::string> special_token_names();

/// The key for a name of a special token; empty if there is none.
[[nodiscard]] std::string special_token_key(const std::string& name);

}  // namespace ingot::cli
