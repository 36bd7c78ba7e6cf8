// SPDX-License-Identifier: MIT
// How tokens spell bytes that text files cannot hold.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ingot/export.h"

namespace ingot::tokenizer {

/// The byte of a token "<0x41>", with two hexadecimal digits of either case; -1 for other texts.
[[nodiscard]] INGOT_EXPORT int byte_of_token(std::string_view text) noexcept;

/// "<0x41>": how the vocabulary spells a byte.
[[nodiscard]] std::string token_of_byte(unsigned char byte);

/// The text of a token of the RWKV family, in which \t \n \r \xhh and \c stand for bytes. What is
/// cut off or is not hexadecimal stands for itself.
[[nodiscard]] std::string unescape(std::string_view text);

}  // namespace ingot::tokenizer
