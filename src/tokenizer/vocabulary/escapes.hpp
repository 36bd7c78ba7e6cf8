// SPDX-License-Identifier: MIT
// The spelling in tokens of bytes that text files cannot hold.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/hexadecimal.hpp"

namespace ingot::tokenizer {

/// The byte of a token "<0x41>", with two hexadecimal digits of either case; -1 for other texts.
[[nodiscard]] constexpr int byte_of_token(std::string_view text) noexcept {
  const bool has_form = text.size() == 6 && text.starts_with("<0x") && text.ends_with('>');
  const auto byte = has_form ? byte_of_hexadecimal(text.substr(3, 2)) : std::nullopt;
  return byte ? static_cast<unsigned char>(*byte) : -1;
}

/// "<0x41>": how the vocabulary spells a byte.
[[nodiscard]] std::string token_of_byte(unsigned char byte);

/// The text of a token of the RWKV family, in which \t \n \r \xhh and \c stand for bytes. What is
/// cut off or is not hexadecimal stands for itself.
[[nodiscard]] std::string unescape(std::string_view text);

}  // namespace ingot::tokenizer
