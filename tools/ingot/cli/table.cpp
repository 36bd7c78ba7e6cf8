// SPDX-License-Identifier: MIT
#include "cli/table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ingot/text.hpp>

namespace ingot::cli {
namespace {

constexpr std::size_t gap_columns = 2;
constexpr std::size_t least_flexible_columns = 12;

std::vector<std::size_t> natural_widths(std::span<const Column> columns, std::size_t row_count,
                                        const MakeRow& make_row) {
  std::vector<std::size_t> widths;
  for (const Column& column : columns) widths.push_back(column.heading.size());
  std::vector<std::string> cells(columns.size());
  for (std::size_t row = 0; row < row_count; ++row) {
    make_row(row, cells);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const std::size_t width =
          columns[i].is_flexible ? display_columns(escape(cells[i])) : display_columns(cells[i]);
      widths[i] = std::max(widths[i], width);
    }
  }
  return widths;
}

/// Takes from the flexible column what the others need.
void fit(std::span<const Column> columns, std::span<std::size_t> widths, std::size_t available) {
  std::size_t total = gap_columns * (columns.size() - 1);
  for (const std::size_t width : widths) total += width;
  for (std::size_t i = 0; i < columns.size() && total > available; ++i) {
    if (!columns[i].is_flexible) continue;
    const std::size_t least = std::min(widths[i], least_flexible_columns);
    const std::size_t taken = std::min(total - available, widths[i] - least);
    widths[i] -= taken;
    total -= taken;
  }
}

std::string line_of(std::span<const Column> columns, std::span<const std::size_t> widths,
                    std::span<const std::string> cells) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) line.append(gap_columns, ' ');
    line += padded(cells[i], widths[i], columns[i].align);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

void print_table(Console& console, std::span<const Column> columns, std::size_t row_count,
                 const MakeRow& make_row) {
  std::vector<std::size_t> widths = natural_widths(columns, row_count, make_row);
  if (console.has_fixed_width()) fit(columns, widths, console.width());

  std::vector<std::string> cells;
  for (const Column& column : columns) cells.push_back(column.heading);
  Output& out = console.out();
  out.print("{}\n", console.paint(Style::faint, line_of(columns, widths, cells)));
  for (std::size_t row = 0; row < row_count && out.is_open(); ++row) {
    make_row(row, cells);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].is_flexible) cells[i] = escape_shortened(cells[i], widths[i]);
    }
    out.print("{}\n", line_of(columns, widths, cells));
  }
}

std::string padded(std::string_view text, std::size_t columns, Align align) {
  const std::size_t used = display_columns(text);
  const std::string blanks(columns > used ? columns - used : 0, ' ');
  return align == Align::left ? std::string(text) + blanks : blanks + std::string(text);
}

std::string bar(double share, std::size_t cells, bool is_unicode, char empty) {
  static constexpr std::array<std::string_view, 8> partial = {
      "", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589"};
  const std::size_t steps = is_unicode ? partial.size() : 1;
  const double filled = std::clamp(share, 0.0, 1.0) * static_cast<double>(cells * steps);
  // What is there at all is shown.
  const std::size_t units =
      share > 0 ? std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(filled))) : 0;
  std::string result;
  for (std::size_t i = 0; i < units / steps; ++i) result += is_unicode ? "\u2588" : "#";
  std::size_t used = units / steps;
  if (units % steps != 0) {
    result += partial[units % steps];
    ++used;
  }
  return result + std::string(cells - used, empty);
}

std::string spark(std::span<const std::uint64_t> counts) {
  static constexpr std::array<std::string_view, 8> heights = {
      "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"};
  std::uint64_t most = 1;
  for (const std::uint64_t count : counts) most = std::max(most, count);
  std::string result;
  for (const std::uint64_t count : counts) {
    const double share = static_cast<double>(count) / static_cast<double>(most);
    const auto height = static_cast<std::size_t>(share * static_cast<double>(heights.size() - 1));
    result += count == 0 ? std::string_view(" ") : heights[height];
  }
  return result;
}

}  // namespace ingot::cli
