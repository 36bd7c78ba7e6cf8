// SPDX-License-Identifier: MIT
// Base64 (RFC 4648), with padding. The functions of OpenSSL would bring all of its EVP interface
// into a static program.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::interop {

[[nodiscard]] std::string base64_encode(std::span<const std::byte> bytes);

/// Nothing if `text` is not what an encoder writes: other characters, lines, missing padding.
[[nodiscard]] std::optional<std::vector<std::byte>> base64_decode(std::string_view text);

}  // namespace ingot::interop
