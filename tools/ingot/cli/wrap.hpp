// SPDX-License-Identifier: MIT
// Text in as many columns as a terminal has: broken between words, or shortened in its middle.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ingot::cli {

/// `text` in lines of at most `width` columns. Lines break at blanks alone, so a word that is
/// longer has a line of its own. The first line begins after `used` columns; `indent` blanks begin
/// each other one. Colours take no columns.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t width, std::size_t indent = 0,
                               std::size_t used = 0);

/// The end of a help text in lines of at most `width` columns. Sentences flow, rows of a list
/// continue below their last part, and commands continue after a backslash.
[[nodiscard]] std::string wrap_notes(std::string_view text, std::size_t width);

/// `escape(text)` in at most `max_columns` columns. Names differ at their ends, so the middle is
/// left out: "blk.0...norm.weight". Parts of a name between . _ - and / stay whole if they fit.
[[nodiscard]] std::string escape_middle(std::string_view text, std::size_t max_columns);

}  // namespace ingot::cli
