// SPDX-License-Identifier: MIT
// Putting codes into blocks that are zeros.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "codec/blocks/block.hpp"
#include "codec/blocks/fp4.hpp"
#include "codec/blocks/iq.hpp"
#include "codec/blocks/k.hpp"
#include "codec/blocks/legacy.hpp"
#include "codec/blocks/q8.hpp"
#include "codec/blocks/ternary.hpp"

namespace ingot::codec {

template <std::size_t count>
using Codes = std::array<std::uint8_t, count>;

/// The code of a level: the level minus the level of code 0.
template <int offset>
struct LevelOffset {
  [[nodiscard]] static std::uint8_t Of(int level) noexcept {
    return static_cast<std::uint8_t>(level + offset);
  }
};

/// The code of a level of IQ4.
struct Iq4Codes {
  [[nodiscard]] static std::uint8_t Of(int level) noexcept {
    return table[static_cast<std::size_t>(level + 127)];
  }

 private:
  [[nodiscard]] static consteval std::array<std::uint8_t, 241> make_table() {
    std::array<std::uint8_t, 241> codes{};
    for (std::size_t code = 0; code < 16; ++code) {
      codes[static_cast<std::size_t>(iq4_values[code] + 127)] = static_cast<std::uint8_t>(code);
    }
    return codes;
  }
  static const std::array<std::uint8_t, 241> table;
};
inline constexpr std::array<std::uint8_t, 241> Iq4Codes::table = Iq4Codes::make_table();

inline void set_bits(std::uint8_t& byte, unsigned bits, std::size_t shift) noexcept {
  byte = static_cast<std::uint8_t>(byte | bits << shift);
}

/// The low four bits of 32 codes.
inline void put_nibbles(const std::uint8_t* codes, std::uint8_t* bytes) noexcept {
  for (std::size_t i = 0; i < 16; ++i) {
    bytes[i] = static_cast<std::uint8_t>((codes[i] & 15) | (codes[i + 16] & 15) << 4);
  }
}

/// Two bits, from `shift` on, of 256 codes: in the order of the K types and TQ2_0.
inline void put_pairs(const Codes<256>& codes, unsigned shift, Bytes<64>& bytes) noexcept {
  for (std::size_t e = 0; e < 256; ++e) {
    set_bits(bytes[32 * (e / 128) + e % 32], codes[e] >> shift & 3u, 2 * (e % 128 / 32));
  }
}

/// Bit `shift` of 256 codes.
inline void put_high_bits(const Codes<256>& codes, unsigned shift, Bytes<32>& bytes) noexcept {
  for (std::size_t e = 0; e < 256; ++e) set_bits(bytes[e % 32], codes[e] >> shift & 1u, e / 32);
}

template <class Block>
void put_codes(const Codes<32>& codes, Block& block) noexcept {
  put_nibbles(codes.data(), block.codes.data());
  if constexpr (requires { block.high_bits; }) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 32; ++i) bits |= std::uint32_t{codes[i] >> 4 & 1u} << i;
    put_u32(block.high_bits.data(), bits);
  }
}

/// Puts levels as bytes in two's complement.
inline void put_codes(const Codes<32>& codes, BlockQ8_0& block) noexcept { block.codes = codes; }

inline void put_codes(const Codes<64>& codes, BlockQ2_0& block) noexcept {
  for (std::size_t i = 0; i < 64; ++i) set_bits(block.codes[i / 4], codes[i], 2 * (i % 4));
}

inline void put_codes(const Codes<256>& codes, BlockTQ2_0& block) noexcept {
  put_pairs(codes, 0, block.codes);
}

/// Packs rows of `columns` trits into `columns` bytes; a missing fifth row counts as zeros.
inline void pack_trits(const std::uint8_t* trits, std::size_t rows, std::size_t columns,
                       std::uint8_t* dst) noexcept {
  for (std::size_t column = 0; column < columns; ++column) {
    unsigned number = 0;
    for (std::size_t row = 0; row < 5; ++row) {
      number = number * 3 + (row < rows ? trits[row * columns + column] : 0u);
    }
    dst[column] = static_cast<std::uint8_t>((number * 256 + 242) / 243);
  }
}

inline void put_codes(const Codes<256>& codes, BlockTQ1_0& block) noexcept {
  pack_trits(&codes[0], 5, 32, &block.trits[0]);
  pack_trits(&codes[160], 5, 16, &block.trits[32]);
  pack_trits(&codes[240], 4, 4, &block.trits[48]);
}

inline void put_codes(const Codes<256>& codes, BlockQ2_K& block) noexcept {
  put_pairs(codes, 0, block.codes);
}

inline void put_codes(const Codes<256>& codes, BlockQ3_K& block) noexcept {
  put_pairs(codes, 0, block.codes);
  put_high_bits(codes, 2, block.high_bits);
}

/// The low four bits of 256 codes: those of 32 codes in the low nibbles, of the next 32 in the
/// high ones.
inline void put_nibble_rows(const Codes<256>& codes, Bytes<128>& bytes) noexcept {
  for (std::size_t e = 0; e < 256; ++e) {
    set_bits(bytes[32 * (e / 64) + e % 32], codes[e] & 15u, 4 * (e / 32 % 2));
  }
}

inline void put_codes(const Codes<256>& codes, BlockQ4_K& block) noexcept {
  put_nibble_rows(codes, block.codes);
}

inline void put_codes(const Codes<256>& codes, BlockQ5_K& block) noexcept {
  put_nibble_rows(codes, block.codes);
  put_high_bits(codes, 4, block.high_bits);
}

inline void put_codes(const Codes<256>& codes, BlockQ6_K& block) noexcept {
  for (std::size_t e = 0; e < 256; ++e) {
    const std::size_t t = e % 128 / 32;
    set_bits(block.codes[64 * (e / 128) + 32 * (t % 2) + e % 32], codes[e] & 15u, 4 * (t / 2));
  }
  put_pairs(codes, 4, block.high_bits);
}

inline void put_codes(const Codes<256>& codes, BlockIQ4_XS& block) noexcept {
  for (std::size_t g = 0; g < 8; ++g) put_nibbles(&codes[32 * g], &block.codes[16 * g]);
}

inline void put_codes(const Codes<32>& codes, BlockMXFP4& block) noexcept {
  put_nibbles(codes.data(), block.codes.data());
}

inline void put_codes(const Codes<64>& codes, BlockNVFP4& block) noexcept {
  for (std::size_t i = 0; i < 32; ++i) {
    const std::size_t e = 16 * (i / 8) + i % 8;
    block.codes[i] = static_cast<std::uint8_t>(codes[e] | codes[e + 8] << 4);
  }
}

inline void put_codes(const Codes<128>& codes, BlockQ1_0& block) noexcept {
  for (std::size_t i = 0; i < 128; ++i) set_bits(block.signs[i / 8], codes[i], i % 8);
}

// The scales of groups, -32 to 31 or -128 to 127.

inline void put_group_scale(std::size_t g, int scale, BlockQ3_K& block) noexcept {
  const auto code = static_cast<unsigned>(scale + 32);
  set_bits(block.groups[g % 8], code & 15u, 4 * (g / 8));
  set_bits(block.groups[8 + g % 4], code >> 4, 2 * (g / 4));
}

inline void put_group_scale(std::size_t g, int scale, BlockQ6_K& block) noexcept {
  block.groups[g] = static_cast<std::uint8_t>(scale);
}

inline void put_group_scale(std::size_t g, int scale, BlockIQ4_XS& block) noexcept {
  const auto code = static_cast<unsigned>(scale + 32);
  set_bits(block.group_low[g / 2], code & 15u, 4 * (g % 2));
  set_bits(block.group_high[g / 4], code >> 4, 2 * (g % 4));
}

// Scales and minimums of groups.

inline void put_group(std::size_t g, unsigned scale, unsigned minimum, BlockQ2_K& block) noexcept {
  block.groups[g] = static_cast<std::uint8_t>(scale | minimum << 4);
}

/// Puts a group of Q4_K or Q5_K: 6 bits each.
template <class Block>
void put_group(std::size_t g, unsigned scale, unsigned minimum, Block& block) noexcept {
  Bytes<12>& p = block.groups;
  if (g < 4) {
    set_bits(p[g], scale, 0);
    set_bits(p[g + 4], minimum, 0);
    return;
  }
  set_bits(p[g + 4], (scale & 15) | (minimum & 15) << 4, 0);
  set_bits(p[g - 4], scale >> 4, 6);
  set_bits(p[g], minimum >> 4, 6);
}

}  // namespace ingot::codec
