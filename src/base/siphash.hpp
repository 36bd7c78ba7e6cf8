// SPDX-License-Identifier: MIT
// SipHash, a keyed hash: without the key, collisions cannot be made.
// Source: Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/byte_order.hpp"
#include "ingot/export.h"

namespace ingot {

struct SipKey {
  std::uint64_t k0 = 0;
  std::uint64_t k1 = 0;
};

/// SipHash-c-d with c = `block_rounds` and d = `final_rounds`.
template <int block_rounds, int final_rounds>
[[nodiscard]] inline std::uint64_t siphash(SipKey key, std::string_view text) noexcept {
  std::uint64_t v0 = key.k0 ^ 0x736f6d6570736575;
  std::uint64_t v1 = key.k1 ^ 0x646f72616e646f6d;
  std::uint64_t v2 = key.k0 ^ 0x6c7967656e657261;
  std::uint64_t v3 = key.k1 ^ 0x7465646279746573;
  const auto round = [&] {
    v0 += v1, v1 = std::rotl(v1, 13), v1 ^= v0, v0 = std::rotl(v0, 32);
    v2 += v3, v3 = std::rotl(v3, 16), v3 ^= v2;
    v0 += v3, v3 = std::rotl(v3, 21), v3 ^= v0;
    v2 += v1, v1 = std::rotl(v1, 17), v1 ^= v2, v2 = std::rotl(v2, 32);
  };
  const auto absorb = [&](std::uint64_t word) {
    v3 ^= word;
    for (int i = 0; i < block_rounds; ++i) round();
    v0 ^= word;
  };
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  std::size_t left = text.size();
  for (; left >= 8; left -= 8, bytes += 8) absorb(load_little<std::uint64_t>(bytes));
  std::uint64_t last = std::uint64_t{text.size()} << 56;
  for (std::size_t i = 0; i < left; ++i) {
    last |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  }
  absorb(last);
  v2 ^= 0xFF;
  for (int i = 0; i < final_rounds; ++i) round();
  return v0 ^ v1 ^ v2 ^ v3;
}

/// The variant for hash tables, as in Rust and Python.
[[nodiscard]] inline std::uint64_t siphash_1_3(SipKey key, std::string_view text) noexcept {
  return siphash<1, 3>(key, text);
}

/// The key of this process, made at the first call. Thread-safe, never fails.
[[nodiscard]] INGOT_EXPORT SipKey process_key() noexcept;

}  // namespace ingot
