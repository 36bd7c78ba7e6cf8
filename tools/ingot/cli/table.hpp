// SPDX-License-Identifier: MIT
// Text that lines up: tables, bars, padding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "cli/console.hpp"

namespace ingot::cli {

enum class Align : std::uint8_t { left, right };

/// The treatment of a column if the terminal is too narrow.
enum class Narrow : std::uint8_t {
  keep,
  shorten,  ///< Names, which are raw text from the file: cells are shortened in their middle.
  wrap,     ///< The last column, of sentences: cells continue on the next line.
  hide,     ///< The column is left out before names become hard to tell apart.
};

struct Column {
  std::string heading;
  Align align = Align::left;
  Narrow when_narrow = Narrow::keep;
};

/// Fills in the cells of a row; they hold those of the row before.
using MakeRow = std::function<void(std::size_t row, std::span<std::string> cells)>;

/// Prints a heading and the rows, columns two blanks apart. Everything is there where a program
/// reads.
void print_table(Console& console, std::span<const Column> columns, std::size_t row_count,
                 const MakeRow& make_row);

/// `text` and the blanks that make it `columns` wide; longer text stays as it is.
[[nodiscard]] std::string padded(std::string_view text, std::size_t columns,
                                 Align align = Align::left);

/// A horizontal bar of `cells` columns, of which `share` (0 to 1) is filled.
[[nodiscard]] std::string bar(double share, std::size_t cells, bool is_unicode, char empty = ' ');

/// Draws counts as a row of little bars, one column each; a count above zero is always visible.
[[nodiscard]] std::string spark(std::span<const std::uint64_t> counts);

}  // namespace ingot::cli
