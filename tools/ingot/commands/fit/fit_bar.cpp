// SPDX-License-Identifier: MIT
#include "commands/fit/fit_bar.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace ingot::cli {
namespace {

struct PartLook {
  std::string_view name;
  Style style;
  std::string_view unicode;
  std::string_view ascii;
};

constexpr std::array<PartLook, 4> looks = {{
    {"weights", Style::accent, "\u2588", "#"},
    {"cache", Style::second, "\u2593", "="},
    {"work space", Style::third, "\u2592", "-"},
    {"other", Style::fourth, "\u2591", "+"},
}};
constexpr PartLook free_look = {"free", Style::faint, "\u00b7", "."};
constexpr PartLook excess_look = {"too much", Style::bad, "\u2573", "x"};

std::string_view glyph(const Console& console, const PartLook& look) {
  return console.is_unicode() ? look.unicode : look.ascii;
}

std::string repeated(std::string_view text, std::size_t count) {
  std::string result;
  for (std::size_t i = 0; i < count; ++i) result += text;
  return result;
}

}  // namespace

Style style_of(Verdict verdict) {
  if (verdict == Verdict::fits) return Style::good;
  if (verdict == Verdict::tight) return Style::warning;
  return verdict == Verdict::does_not_fit ? Style::bad : Style::plain;
}

std::string memory_bar(const Console& console, const MemoryUse& use, std::uint64_t scale_bytes,
                       std::size_t cells) {
  const auto cell_of = [&](std::uint64_t bytes) {
    const double share =
        static_cast<double>(bytes) / static_cast<double>(std::max<std::uint64_t>(scale_bytes, 1));
    return static_cast<std::size_t>(std::lround(std::min(share, 1.0) * static_cast<double>(cells)));
  };
  const std::array<std::uint64_t, 4> parts = {use.weights_bytes, use.cache_bytes, use.compute_bytes,
                                              use.output_bytes + use.projector_bytes};
  const std::size_t end = use.capacity_bytes ? cell_of(*use.capacity_bytes) : 0;
  std::string bar;
  std::uint64_t bytes = 0;
  std::size_t used = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    bytes += parts[i];
    const std::size_t to = std::max(used, cell_of(bytes));
    const std::size_t within = use.capacity_bytes ? std::clamp(end, used, to) : to;
    bar += console.paint(looks[i].style, repeated(glyph(console, looks[i]), within - used));
    bar += console.paint(excess_look.style, repeated(glyph(console, excess_look), to - within));
    used = to;
  }
  const std::size_t free_cells = end > used ? end - used : 0;
  bar += console.paint(Style::faint, repeated(glyph(console, free_look), free_cells));
  return bar + std::string(cells - used - free_cells, ' ');
}

std::string bar_legend(const Console& console, bool has_excess) {
  std::string legend;
  for (const PartLook& look : looks) {
    legend += console.paint(look.style, glyph(console, look)) + " " + std::string(look.name) + "  ";
  }
  const PartLook& last = has_excess ? excess_look : free_look;
  return legend + console.paint(last.style, glyph(console, last)) + " " + std::string(last.name);
}

}  // namespace ingot::cli
