// SPDX-License-Identifier: MIT
// The functions of OpenSSL would bring all of its EVP interface into a static program.
#include <algorithm>
#include <array>
#include <cstdint>

#include "ingot/text.hpp"

namespace ingot {
namespace {

constexpr std::string_view base64_digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 64;

constexpr std::array<std::uint8_t, 256> digit_values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(no_digit);
  for (std::size_t i = 0; i < base64_digits.size(); ++i) {
    values[static_cast<unsigned char>(base64_digits[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}();

}  // namespace

std::string base64_encode(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8 | (i < count ? std::to_integer<std::uint32_t>(bytes[at + i]) : 0);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text.push_back(i <= count ? base64_digits[group >> (18 - 6 * i) & 63] : '=');
    }
  }
  return text;
}

std::optional<std::vector<std::byte>> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t at = 0; at < text.size(); at += 4) {
    const bool is_last = at + 4 == text.size();
    std::size_t count = 3;
    if (is_last && text[at + 3] == '=') count = text[at + 2] == '=' ? 1 : 2;
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::uint8_t value = digit_values[static_cast<unsigned char>(text[at + i])];
      if (i <= count && value == no_digit) return std::nullopt;
      group = group << 6 | (i <= count ? value : 0u);
    }
    for (std::size_t i = 0; i < count; ++i) {
      bytes.push_back(static_cast<std::byte>(group >> (16 - 8 * i) & 0xFF));
    }
    if ((group & ((1u << (8 * (3 - count))) - 1)) != 0) return std::nullopt;  // unused bits
  }
  return bytes;
}

}  // namespace ingot
