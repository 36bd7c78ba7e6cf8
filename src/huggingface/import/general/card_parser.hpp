// SPDX-License-Identifier: MIT
// YAML to values: by libyaml, or on systems without it by a reader of the part that cards use.
#pragma once

#include <string>
#include <string_view>

#include "ingot/model_card.hpp"

namespace ingot::huggingface {

inline constexpr std::size_t max_card_depth = 64;

/// Whether a text without quotes stands for no value.
[[nodiscard]] inline bool is_null(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

/// By libyaml, or where that is missing by `parse_simple_card`. `first_line` is the number of the
/// text's first line in the file.
[[nodiscard]] Result<CardValue> parse_card(std::string_view text, const std::string& file,
                                           std::size_t first_line);

/// Without a library: objects, lists, and texts of one line or as blocks. Refuses what else YAML
/// has.
[[nodiscard]] Result<CardValue> parse_simple_card(std::string_view text, const std::string& file,
                                                  std::size_t first_line);

}  // namespace ingot::huggingface
