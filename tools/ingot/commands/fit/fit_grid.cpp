// SPDX-License-Identifier: MIT
#include "commands/fit/fit_grid.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ingot/text.hpp>
#include <string_view>

#include "cli/json_stream.hpp"
#include "cli/table.hpp"
#include "commands/fit/fit_page.hpp"

namespace ingot::cli {
namespace {

constexpr std::size_t max_contexts = 10;
constexpr std::string_view as_it_is = "as it is";

std::vector<std::uint64_t> usual_contexts(std::uint64_t own) {
  constexpr std::uint64_t usual_most = 131072;  // for models without a context length
  const std::uint64_t most = own > 0 ? std::min(own, max_context) : usual_most;
  std::vector<std::uint64_t> contexts;
  for (std::uint64_t context = 2048; context < most; context *= 2) contexts.push_back(context);
  contexts.push_back(most);
  if (contexts.size() > max_contexts) {
    contexts.erase(contexts.begin(), contexts.end() - static_cast<std::ptrdiff_t>(max_contexts));
  }
  return contexts;
}

Result<GridRow> make_row(const MemoryProfile& profile, RunOptions options, std::string type,
                         const std::vector<std::uint64_t>& contexts) {
  GridRow row;
  row.type = std::move(type);
  row.weights_bytes = profile.weights_bytes();
  for (const std::uint64_t context : contexts) {
    options.context = context;
    INGOT_TRY(const MemoryEstimate estimate, profile.estimate(options));
    std::uint64_t total = estimate.host.total_bytes;
    for (const MemoryUse& use : estimate.devices) total += use.total_bytes;
    row.total_bytes.push_back(total);
    row.verdicts.push_back(estimate.verdict);
  }
  return row;
}

std::string gib_text(std::uint64_t bytes) {
  const double gib = static_cast<double>(bytes) / static_cast<double>(std::uint64_t{1} << 30);
  // Two digits that count of what is small.
  if (gib < 0.095) return fmt::format("{:.{}f}", gib, gib < 0.0095 ? 4 : 3);
  return gib < 100 ? fmt::format("{:.2f}", gib) : fmt::format("{:.1f}", gib);
}

}  // namespace

std::string context_text(std::uint64_t context) {
  if (context % (1U << 20) == 0) return fmt::format("{}M", context >> 20);
  if (context % 1024 == 0) return fmt::format("{}k", context >> 10);
  return std::to_string(context);
}

Result<FitGrid> make_grid(const Model& model, const MemoryProfile& profile,
                          const RunOptions& options, std::vector<std::uint64_t> contexts,
                          const std::vector<std::string>& types) {
  FitGrid grid;
  grid.is_verified = model.is_verified();
  grid.contexts = contexts.empty() ? usual_contexts(profile.context_length()) : std::move(contexts);
  RunOptions run = options;
  if (run.devices.empty()) run.devices = {{"device", std::uint64_t{1} << 62, 0}};
  if (types.empty()) {
    INGOT_TRY(GridRow row, make_row(profile, run, std::string(as_it_is), grid.contexts));
    grid.rows.push_back(std::move(row));
    for (const std::string_view type : usual_quantizations()) {
      // A mixture that does not fit the shapes of this model has no row.
      const Result<MemoryProfile> quantized = profile_as(model, type);
      if (!quantized) continue;
      INGOT_TRY(GridRow made, make_row(*quantized, run, std::string(type), grid.contexts));
      grid.rows.push_back(std::move(made));
    }
  }
  for (const std::string& type : types) {
    INGOT_TRY(const MemoryProfile quantized, profile_as(model, type));
    INGOT_TRY(GridRow row, make_row(quantized, run, type, grid.contexts));
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

namespace {

/// The grid as texts: a heading and a row for each type, and how wide each column is.
struct GridTexts {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> widths;

  explicit GridTexts(const FitGrid& grid, bool has_limit) {
    std::vector<std::string> heads = {"type", "weights"};
    for (const std::uint64_t context : grid.contexts) heads.push_back(context_text(context));
    add(std::move(heads));
    for (const GridRow& row : grid.rows) {
      std::vector<std::string> cells = {escape_shortened(row.type, 16),
                                        gib_text(row.weights_bytes)};
      for (std::size_t i = 0; i < row.total_bytes.size(); ++i) {
        const std::string text = gib_text(row.total_bytes[i]);
        const bool is_too_large = has_limit && row.verdicts[i] == Verdict::does_not_fit;
        cells.push_back(is_too_large ? "(" + text + ")" : text);
      }
      add(std::move(cells));
    }
  }

  void add(std::vector<std::string> cells) {
    widths.resize(cells.size());
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
    rows.push_back(std::move(cells));
  }

  /// The first context column that is shown where the terminal is that wide: long contexts are
  /// those that do not fit, so short ones go first.
  [[nodiscard]] std::size_t first_shown(std::size_t columns) const {
    std::size_t total = 1;
    for (const std::size_t width : widths) total += width + 3;
    std::size_t first = 2;
    while (total > columns && first + 1 < widths.size()) total -= widths[first++] + 3;
    return first;
  }
};

}  // namespace

void print_grid(Console& console, const FitGrid& grid, const RunOptions& options) {
  const bool has_limit = !options.devices.empty();
  const GridTexts texts(grid, has_limit);
  const std::size_t first = console.has_fixed_width() ? texts.first_shown(console.width()) : 2;
  Output& out = console.out();
  const auto is_shown = [&](std::size_t column) { return column < 2 || column >= first; };
  for (std::size_t row = 0; row < texts.rows.size(); ++row) {
    for (std::size_t i = 0; i < texts.widths.size(); ++i) {
      if (!is_shown(i)) continue;
      const std::string text =
          padded(texts.rows[row][i], texts.widths[i], i == 0 ? Align::left : Align::right);
      const bool is_judged = row > 0 && i >= 2 && has_limit;
      out.print("| {} ", is_judged
                             ? console.paint(style_of(grid.rows[row - 1].verdicts[i - 2]), text)
                             : text);
    }
    out.print("|\n");
    if (row > 0) continue;
    for (std::size_t i = 0; i < texts.widths.size(); ++i) {
      if (!is_shown(i)) continue;
      out.print("| {}{} ", std::string(texts.widths[i] - 1, '-'), i == 0 ? '-' : ':');
    }
    out.print("|\n");
  }
  out.print("\nGiB for so many tokens of context, host included{}.\n",
            has_limit ? "; in brackets: does not fit" : "");
}

void print_grid_json(Console& console, const std::string& file, const FitGrid& grid) {
  JsonStream json(console.out());
  const auto object = json.object();
  json.member("file", file);
  json.values("contexts", grid.contexts, Layout::line);
  json.objects("rows", grid.rows, [&](const GridRow& row) {
    json.member("type", row.type);
    json.member("weights_bytes", row.weights_bytes);
    json.values("total_bytes", row.total_bytes, Layout::line);
    const auto array = json.array("fits", Layout::line);
    for (const Verdict verdict : row.verdicts) json.value(verdict != Verdict::does_not_fit);
  });
  if (!grid.is_verified) json.member("verified", false);
}

}  // namespace ingot::cli
