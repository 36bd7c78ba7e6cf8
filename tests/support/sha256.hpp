// SPDX-License-Identifier: MIT
// Digests for golden tests.
#pragma once

#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>

namespace ingot::test {

[[nodiscard]] inline std::string sha256_of(std::span<const std::byte> bytes) {
  std::array<unsigned char, 32> digest{};
  unsigned length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1) {
    std::abort();
  }
  std::string text;
  for (const unsigned char byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace ingot::test
