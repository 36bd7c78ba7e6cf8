// SPDX-License-Identifier: MIT
#include "cli/table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <ingot/text.hpp>

#include "cli/wrap.hpp"

namespace ingot::cli {
namespace {

constexpr std::size_t gap_columns = 2;
constexpr std::size_t least_name_columns = 16;
constexpr std::size_t legible_name_columns = 26;  // "blk.10.attn_output.weight"
constexpr std::size_t least_sentence_columns = 16;

/// Whether a text needs no escapes, as most need none.
bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~' && c != '\\'; });
}

/// The cells of all rows, row by row, in one text.
class Cells {
 public:
  Cells(std::span<const Column> columns, std::size_t row_count, const MakeRow& make_row)
      : column_count_(columns.size()) {
    constexpr std::size_t usual_row_bytes = 64;
    text_.reserve(usual_row_bytes * row_count);
    cells_.reserve(column_count_ * row_count);
    for (const Column& column : columns) widths_.push_back(column.heading.size());
    std::vector<std::string> row(column_count_);
    for (std::size_t i = 0; i < row_count; ++i) {
      make_row(i, row);
      for (std::size_t j = 0; j < column_count_; ++j)
        add(row[j], j, columns[j].when_narrow == Narrow::shorten);
    }
  }

  /// The columns of the widest cell, for each column of the table.
  [[nodiscard]] const std::vector<std::size_t>& widths() const noexcept { return widths_; }

  /// Calls use(cell, whether it has the usual width, column of the table) for one after the other,
  /// until `use` returns false. The usual width is a column for a byte, without escapes.
  template <class Use>
  void for_each(const Use& use) const {
    const char* text = text_.data();
    std::size_t column = 0;
    for (const std::uint32_t cell : cells_) {
      const std::uint32_t bytes = cell / 2;
      if (!use(std::string_view(text, bytes), cell % 2 != 0, column)) return;
      text += bytes;
      if (++column == column_count_) column = 0;
    }
  }

 private:
  void add(const std::string& cell, std::size_t column, bool is_raw) {
    const bool has_escapes = is_raw && !is_plain(cell);
    const std::size_t columns = has_escapes ? display_columns(escape(cell)) : display_columns(cell);
    const bool has_usual_width = columns == cell.size() && !has_escapes;
    widths_[column] = std::max(widths_[column], columns);
    text_ += cell;
    cells_.push_back(static_cast<std::uint32_t>(cell.size() * 2 + (has_usual_width ? 1 : 0)));
  }

  std::size_t column_count_;
  std::string text_;
  std::vector<std::uint32_t> cells_;  // twice the bytes of each, and 1 if it has the usual width
  std::vector<std::size_t> widths_;
};

std::size_t total_columns(std::span<const std::size_t> widths) {
  std::size_t total = 0;
  for (const std::size_t width : widths) total += width == 0 ? 0 : width + gap_columns;
  return total - std::min(total, gap_columns);
}

/// Makes the columns of one kind narrower, down to `least`, until all are as wide as `available`.
void narrow(std::span<const Column> columns, std::span<std::size_t> widths, Narrow when_narrow,
            std::size_t least, std::size_t available) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::size_t total = total_columns(widths);
    if (total <= available || columns[i].when_narrow != when_narrow) continue;
    widths[i] -= std::min(total - available, widths[i] - std::min(widths[i], least));
  }
}

/// Makes the table as wide as the terminal, if it can. A column of width 0 is left out.
void fit_widths(std::span<const Column> columns, std::span<std::size_t> widths,
                std::size_t available) {
  narrow(columns, widths, Narrow::wrap, least_sentence_columns, available);
  narrow(columns, widths, Narrow::shorten, legible_name_columns, available);
  for (std::size_t i = columns.size(); i-- > 0 && total_columns(widths) > available;) {
    if (columns[i].when_narrow == Narrow::hide) widths[i] = 0;
  }
  narrow(columns, widths, Narrow::shorten, least_name_columns, available);
}

void append_padded(std::string& line, std::string_view text, std::size_t columns, Align align) {
  const std::size_t used = display_columns(text);
  const std::size_t blanks = columns > used ? columns - used : 0;
  if (align == Align::right) line.append(blanks, ' ');
  line += text;
  if (align == Align::left) line.append(blanks, ' ');
}

/// Lines of cells side by side, without blanks after the last one.
class Lines {
 public:
  explicit Lines(Output& out) : out_(out) {}

  /// @param used  the columns that the text takes.
  void add(std::string_view text, std::size_t used, std::size_t columns, Align align) {
    const std::size_t padding = columns > used ? columns - used : 0;
    if (align == Align::right) blanks_ += padding;
    if (!text.empty()) {
      const std::size_t begin = size_ + blanks_;
      // A line is as long as the ones before it, so it seldom grows.
      if (begin + text.size() >= line_.size()) line_.resize(2 * (begin + text.size()) + 1);
      std::fill_n(line_.data() + size_, blanks_, ' ');
      text.copy(line_.data() + begin, text.size());
      size_ = begin + text.size();
      blanks_ = 0;
    }
    blanks_ += gap_columns + (align == Align::left ? padding : 0);
  }

  void end() {
    line_[size_] = '\n';
    out_.write({line_.data(), size_ + 1});
    size_ = 0;
    blanks_ = 0;
  }

 private:
  Output& out_;
  std::string line_ = std::string(1, '\0');
  std::size_t size_ = 0;    // bytes of the line so far
  std::size_t blanks_ = 0;  // spaces before the next text
};

void print_heading(Console& console, std::span<const Column> columns,
                   std::span<const std::size_t> widths) {
  std::string line;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (widths[i] == 0) continue;
    if (!line.empty()) line.append(gap_columns, ' ');
    append_padded(line, columns[i].heading, widths[i], columns[i].align);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  console.print_line(Style::faint, line);
}

}  // namespace

void print_table(Console& console, std::span<const Column> columns, std::size_t row_count,
                 const MakeRow& make_row) {
  const Cells cells(columns, row_count, make_row);
  std::vector<std::size_t> widths = cells.widths();
  if (console.has_fixed_width()) fit_widths(columns, widths, console.width());
  const bool wraps =
      columns.back().when_narrow == Narrow::wrap && widths.back() < cells.widths().back();
  const std::size_t last_start = total_columns(widths) - widths.back();
  print_heading(console, columns, widths);
  Output& out = console.out();
  Lines lines(out);
  cells.for_each([&](std::string_view cell, bool has_usual_width, std::size_t i) {
    const bool is_last = i + 1 == columns.size();
    if (widths[i] == 0) {
      // Left out.
    } else if (columns[i].when_narrow == Narrow::shorten &&
               (!has_usual_width || cell.size() > widths[i])) {
      const std::string shown = escape_middle(cell, widths[i]);
      lines.add(shown, display_columns(shown), widths[i], columns[i].align);
    } else if (is_last && wraps) {
      lines.add(wrap(cell, last_start + widths[i], last_start, last_start), widths[i], widths[i],
                Align::left);
    } else {
      lines.add(cell, has_usual_width ? cell.size() : display_columns(cell), widths[i],
                columns[i].align);
    }
    if (is_last) lines.end();
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
  // A part above zero is always visible.
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
