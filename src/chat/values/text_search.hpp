// SPDX-License-Identifier: MIT
// Texts within texts, in time that is linear in both: what a template searches for is chosen to
// hurt.
#pragma once

#include <cstddef>
#include <string_view>

namespace ingot::chat {

/// The first place at or after `begin` where `wanted` lies in `text`; npos if there is none.
[[nodiscard]] std::size_t find_text(std::string_view text, std::string_view wanted,
                                    std::size_t begin = 0);

/// The last place of `wanted` in `text`; npos if there is none.
[[nodiscard]] std::size_t find_last_text(std::string_view text, std::string_view wanted);

/// How often `wanted`, which is not empty, lies in `text` without overlaps.
[[nodiscard]] std::size_t count_texts(std::string_view text, std::string_view wanted);

}  // namespace ingot::chat
