// SPDX-License-Identifier: MIT
// Escapes in string literals, as Python has them.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "chat/values/arena.hpp"

namespace ingot::chat {

/// The text between the quotes of a literal, without escapes; or what is wrong with it. Lies in
/// `literal` if there is no escape, else in `arena`.
[[nodiscard]] tl::expected<std::string_view, std::string> unescape_string(std::string_view literal,
                                                                          Arena& arena);

}  // namespace ingot::chat
