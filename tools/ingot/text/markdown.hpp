// SPDX-License-Identifier: MIT
// Texts in pages of Markdown.
#pragma once

#include <string>
#include <string_view>

namespace ingot::cli {

/// A text as one line of Markdown, also in a cell of a table: it is shown as it is, and makes no
/// mark, link, tag, formula or reference. Safe to print.
[[nodiscard]] std::string markdown_text(std::string_view text);

}  // namespace ingot::cli
