// SPDX-License-Identifier: MIT
#include "huggingface/import/general/card_parser.hpp"

namespace ingot::huggingface {

Result<CardValue> parse_card(std::string_view text, const std::string& file,
                             std::size_t first_line) {
  return parse_simple_card(text, file, first_line);
}

}  // namespace ingot::huggingface
