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

/// The cells of all rows, row by row, in one text.
class Cells {
 public:
  Cells(std::span<const Column> columns, std::size_t row_count, const MakeRow& make_row)
      : column_count_(columns.size()) {
    constexpr std::size_t usual_row_bytes = 64;
    text_.reserve(usual_row_bytes * row_count);
    sizes_.reserve(column_count_ * row_count);
    std::vector<std::string> row(column_count_);
    for (std::size_t i = 0; i < row_count; ++i) {
      make_row(i, row);
      for (const std::string& cell : row) {
        text_ += cell;
        sizes_.push_back(static_cast<std::uint32_t>(cell.size()));
      }
    }
  }

  /// Calls use(cell, column) for one after the other, until `use` returns false.
  template <class Use>
  void for_each(const Use& use) const {
    std::string_view rest = text_;
    std::size_t column = 0;
    for (const std::uint32_t size : sizes_) {
      if (!use(rest.substr(0, size), column)) return;
      rest.remove_prefix(size);
      if (++column == column_count_) column = 0;
    }
  }

 private:
  std::size_t column_count_;
  std::string text_;
  std::vector<std::uint32_t> sizes_;  // a name has at most 65,535 bytes
};

std::vector<std::size_t> natural_widths(std::span<const Column> columns, const Cells& cells) {
  std::vector<std::size_t> widths;
  for (const Column& column : columns) widths.push_back(column.heading.size());
  cells.for_each([&](std::string_view cell, std::size_t i) {
    // Escaping makes text longer; nothing else is wider than it has bytes.
    if (columns[i].is_flexible) {
      widths[i] = std::max(widths[i], display_columns(escape(cell)));
    } else if (cell.size() > widths[i]) {
      widths[i] = std::max(widths[i], display_columns(cell));
    }
    return true;
  });
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

void append_padded(std::string& line, std::string_view text, std::size_t columns, Align align) {
  const std::size_t used = display_columns(text);
  const std::size_t blanks = columns > used ? columns - used : 0;
  if (align == Align::right) line.append(blanks, ' ');
  line += text;
  if (align == Align::left) line.append(blanks, ' ');
}

/// Ends a line: without the blanks after the last cell.
void write_line(Output& out, std::string& line) {
  line.erase(line.find_last_not_of(' ') + 1);
  line += '\n';
  out.write(line);
  line.clear();
}

void print_heading(Console& console, std::span<const Column> columns,
                   std::span<const std::size_t> widths) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) line.append(gap_columns, ' ');
    append_padded(line, columns[i].heading, widths[i], columns[i].align);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  console.out().print("{}\n", console.paint(Style::faint, line));
}

}  // namespace

void print_table(Console& console, std::span<const Column> columns, std::size_t row_count,
                 const MakeRow& make_row) {
  const Cells cells(columns, row_count, make_row);
  std::vector<std::size_t> widths = natural_widths(columns, cells);
  if (console.has_fixed_width()) fit(columns, widths, console.width());
  print_heading(console, columns, widths);
  Output& out = console.out();
  std::string line;
  cells.for_each([&](std::string_view cell, std::size_t i) {
    if (i > 0) line.append(gap_columns, ' ');
    if (columns[i].is_flexible) {
      append_padded(line, escape_shortened(cell, widths[i]), widths[i], columns[i].align);
    } else {
      append_padded(line, cell, widths[i], columns[i].align);
    }
    if (i + 1 == columns.size()) write_line(out, line);
    return out.is_open();
  });
}

std::string padded(std::string_view text, std::size_t columns, Align align) {
  std::string result;
  append_padded(result, text, columns, align);
  return result;
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
