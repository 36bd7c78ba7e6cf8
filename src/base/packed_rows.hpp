// SPDX-License-Identifier: MIT
// Tables of numbers whose neighbours are near to one another, a byte or two for each number: those
// of Unicode take 15 KB instead of 70.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace ingot {
namespace detail {

/// Calls use(byte) for the packed form: column by column, of each number how far it is from the one
/// above, with the sign in the lowest bit, in groups of seven bits, of which all but the last have
/// the highest bit set.
template <std::size_t rows, std::size_t columns, class Use>
constexpr void pack_rows(const std::int32_t (&table)[rows][columns], Use use) {
  for (std::size_t column = 0; column < columns; ++column) {
    std::int32_t above = 0;
    for (const auto& row : table) {
      const std::int32_t distance = row[column] - above;
      above = row[column];
      auto rest = static_cast<std::uint32_t>(distance) << 1 ^ (distance < 0 ? ~0U : 0U);
      for (; rest >= 0x80; rest >>= 7) use(static_cast<std::uint8_t>(rest | 0x80));
      use(static_cast<std::uint8_t>(rest));
    }
  }
}

template <const auto& table>
consteval auto packed_rows() {
  constexpr std::size_t size = [] {
    std::size_t count = 0;
    pack_rows(table, [&](std::uint8_t) { ++count; });
    return count;
  }();
  std::array<std::uint8_t, size> bytes = {};
  std::size_t end = 0;
  pack_rows(table, [&](std::uint8_t byte) { bytes[end++] = byte; });
  return bytes;
}

}  // namespace detail

/// What make(row) makes of the rows of a table; the table itself is not in the program.
///
/// @tparam table  a constant std::int32_t[rows][columns].
template <const auto& table, class Make>
auto unpack_rows(Make make) {
  static constexpr auto bytes = detail::packed_rows<table>();
  using Row = std::array<std::int32_t, std::size(table[0])>;
  std::array<Row, std::size(table)> rows = {};
  const std::uint8_t* next = bytes.data();
  for (std::size_t column = 0; column < std::size(table[0]); ++column) {
    std::uint32_t number = 0;
    for (Row& row : rows) {
      std::uint32_t distance = 0;
      for (unsigned bits = 0;; bits += 7) {
        distance |= static_cast<std::uint32_t>(*next & 0x7F) << bits;
        if ((*next++ & 0x80) == 0) break;
      }
      number += distance >> 1 ^ ((distance & 1) != 0 ? ~0U : 0U);
      row[column] = static_cast<std::int32_t>(number);
    }
  }
  std::array<decltype(make(rows[0])), std::size(table)> made = {};
  for (std::size_t i = 0; i < rows.size(); ++i) made[i] = make(rows[i]);
  return made;
}

}  // namespace ingot
