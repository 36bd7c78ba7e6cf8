// SPDX-License-Identifier: MIT
#include "commands/fit/fit_page.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ingot/summary.hpp>
#include <ingot/text.hpp>
#include <string_view>
#include <utility>

#include "cli/table.hpp"
#include "cli/wrap.hpp"
#include "commands/fit/speed_lines.hpp"
#include "commands/image_facts.hpp"
#include "text/memory_facts.hpp"
#include "text/value_text.hpp"
#include "text/words.hpp"

namespace ingot::cli {
namespace {

constexpr std::size_t label_columns = 11, widest_page = 110;

std::string bytes_or_dash(std::uint64_t bytes) { return bytes == 0 ? "-" : format_bytes(bytes); }

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

/// The parts of a bar have a colour and a glyph each, so that they are told apart without colours.
///
/// `cells` columns stand for `scale_bytes`: first used memory, then free memory up to the capacity.
/// Memory beyond the capacity has a glyph of its own.
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

/// "# weights  = cache  - work space ...", as the bars have them.
std::string bar_legend(const Console& console, bool has_excess) {
  std::string legend;
  for (const PartLook& look : looks) {
    legend += console.paint(look.style, glyph(console, look)) + " " + std::string(look.name) + "  ";
  }
  const PartLook& last = has_excess ? excess_look : free_look;
  return legend + console.paint(last.style, glyph(console, last)) + " " + std::string(last.name);
}

/// The page while it is written.
class FitPage {
 public:
  FitPage(Console& console, const FitResult& result)
      : console_(console),
        out_(console.out()),
        result_(result),
        estimate_(result.estimate),
        width_(std::min(console.width(), widest_page)) {
    name_places();
  }

  void print() {
    print_title();
    print_verdict();
    print_changes();
    print_bars();
    print_parts();
    print_facts();
    print_notes();
  }

 private:
  /// A device or the host, with a name that no other has.
  struct Place {
    std::string name;
    const MemoryUse* use;
  };

  void name_places() {
    for (const MemoryUse& use : estimate_.devices) {
      const auto same = [&](const MemoryUse& other) { return other.name == use.name; };
      std::string name = escape_shortened(use.name, width_ / 4);
      if (std::ranges::count_if(estimate_.devices, same) > 1) {
        name += fmt::format(" #{}", places_.size() + 1);
      }
      places_.push_back({std::move(name), &use});
    }
    places_.push_back({"host", &estimate_.host});
    for (const Place& place : places_) {
      name_columns_ = std::max(name_columns_, display_columns(place.name) + 2);
    }
  }

  void print_title() {
    const Summary summary = summarize(result_.model);
    const std::string file = result_.file.substr(result_.file.rfind('/') + 1);
    const std::string title =
        summary.name && !summary.name->empty() ? std::string(*summary.name) : file;
    console_.print_line(Style::strong, escape_shortened(title, width_));
    std::string kind = result_.profile.architecture().empty()
                           ? "no architecture"
                           : escape_shortened(result_.profile.architecture(), 24);
    if (!result_.profile.is_known_architecture()) kind += " (not known)";
    console_.print_prose(fmt::format("{}, {} parameters, {} of weights, {} of context", kind,
                                     format_count(summary.parameter_count),
                                     format_bytes(estimate_.weights_bytes),
                                     plural(estimate_.context, "token", "tokens")));
    out_.put('\n');
  }

  void print_verdict() {
    const std::string_view word = word_of(estimate_.verdict);
    if (estimate_.verdict == Verdict::unknown) {
      out_.print(
          "{} on the host",
          console_.paint(Style::strong, "takes " + format_bytes(estimate_.host.total_bytes)));
      if (result_.advice.smallest_card_bytes) {
        out_.print("; all of it fits on a card of {}",
                   card_text(*result_.advice.smallest_card_bytes));
      } else {
        out_.print("; no common card holds all of it");
      }
      out_.print("\n");
    } else {
      out_.print("{}{}\n", console_.paint(style_of(estimate_.verdict), word), margin_text());
    }
    out_.put('\n');
  }

  /// The memory that is left or missing in the tightest place.
  [[nodiscard]] std::string margin_text() const {
    std::string text;
    double least = 2;
    for (const Place& place : places_) {
      const MemoryUse& use = *place.use;
      if (!use.capacity_bytes) continue;
      if (use.verdict == Verdict::does_not_fit) {
        text += fmt::format("{} {} lacks {}", text.empty() ? ":" : ",", place.name,
                            format_bytes(use.total_bytes - *use.capacity_bytes));
        least = -1;
      }
      const double left =
          1 - static_cast<double>(use.total_bytes) /
                  static_cast<double>(std::max<std::uint64_t>(*use.capacity_bytes, 1));
      if (left < least && least >= 0) {
        least = left;
        text = fmt::format(", {} to spare on {}",
                           format_bytes(*use.capacity_bytes - use.total_bytes), place.name);
      }
    }
    return text;
  }

  void print_changes() {
    if (estimate_.verdict != Verdict::does_not_fit) return;
    if (result_.advice.changes.empty()) {
      out_.print("no single change makes it fit\n\n");
      return;
    }
    out_.print("{}\n", result_.advice.changes.size() == 1 ? "this makes it fit"
                                                          : "each of these makes it fit");
    for (const Change& change : result_.advice.changes) out_.print("  {}\n", change_text(change));
    out_.put('\n');
  }

  [[nodiscard]] std::string change_text(const Change& change) const {
    if (change.kind == ChangeKind::weights) {
      std::string text = fmt::format("{} of weights or less", format_bytes(change.weights_bytes));
      if (result_.smaller) {
        text += fmt::format(": quantize to {} ({})", result_.smaller->recipe,
                            format_bytes(result_.smaller->weights_bytes));
      }
      return text;
    }
    const std::string option = console_.paint(Style::strong, option_text(change));
    if (change.kind == ChangeKind::gpu_layers) {
      const std::uint64_t all = result_.profile.layer_count() + 1;
      const std::uint64_t moved = all - static_cast<std::uint64_t>(change.options.gpu_layers);
      return option + fmt::format("  ({} on the host)", plural(moved, "layer", "layers"));
    }
    if (change.kind == ChangeKind::context) {
      return option + fmt::format("  (instead of {})", estimate_.context);
    }
    if (change.kind == ChangeKind::experts_on_host) {
      return option + fmt::format("  (experts of {} of {} layers on the host)",
                                  change.options.experts_on_host, result_.profile.layer_count());
    }
    return option;
  }

  [[nodiscard]] std::uint64_t scale_bytes() const {
    std::uint64_t scale = 1;
    for (const Place& place : places_) {
      scale = std::max({scale, place.use->total_bytes, place.use->capacity_bytes.value_or(0)});
    }
    return scale;
  }

  [[nodiscard]] static std::string amount_text(const MemoryUse& use) {
    if (!use.capacity_bytes) return format_bytes(use.total_bytes);
    return fmt::format("{} of {}", format_bytes(use.total_bytes),
                       format_bytes(*use.capacity_bytes));
  }

  void print_bars() {
    std::size_t amount_columns = 0;
    bool has_verdict = false;
    for (const Place& place : places_) {
      amount_columns = std::max(amount_columns, amount_text(*place.use).size());
      has_verdict = has_verdict || place.use->verdict != Verdict::unknown;
    }
    const std::size_t verdict_columns = has_verdict ? 14 : 0;
    const std::size_t taken = name_columns_ + amount_columns + 2 + verdict_columns;
    const std::size_t cells = width_ > taken + 8 ? std::min<std::size_t>(width_ - taken, 60) : 8;
    for (const Place& place : places_) {
      const MemoryUse& use = *place.use;
      std::string line = padded(place.name, name_columns_) +
                         memory_bar(console_, use, scale_bytes(), cells) + "  " +
                         padded(amount_text(use), amount_columns, Align::right);
      if (use.verdict != Verdict::unknown) {
        line += "  " + console_.paint(style_of(use.verdict), word_of(use.verdict));
      }
      out_.print("{}\n", line);
    }
    const bool has_excess = estimate_.verdict == Verdict::does_not_fit;
    out_.print("{}{}\n\n", std::string(name_columns_, ' '), bar_legend(console_, has_excess));
  }

  void print_parts() {
    std::vector<Column> columns = {{"", Align::left}};
    for (const char* heading : {"layers", "weights", "cache", "work space", "output", "total"}) {
      const bool gives_way = std::string_view(heading) == "output";
      columns.push_back({heading, Align::right, gives_way ? Narrow::hide : Narrow::keep});
    }
    const bool has_projector = std::ranges::any_of(
        places_, [](const Place& place) { return place.use->projector_bytes > 0; });
    if (has_projector) columns.push_back({"projector", Align::right});
    print_table(console_, columns, places_.size(),
                [&](std::size_t row, std::span<std::string> cells) {
                  const MemoryUse& use = *places_[row].use;
                  cells[0] = places_[row].name;
                  cells[1] = layers_text(use);
                  cells[2] = bytes_or_dash(use.weights_bytes);
                  cells[3] = bytes_or_dash(use.cache_bytes);
                  cells[4] = bytes_or_dash(use.compute_bytes);
                  cells[5] = bytes_or_dash(use.output_bytes);
                  cells[6] = format_bytes(use.total_bytes);
                  if (has_projector) cells[7] = bytes_or_dash(use.projector_bytes);
                });
    out_.put('\n');
  }

  [[nodiscard]] static std::string layers_text(const MemoryUse& use) {
    std::string text = use.layer_count > 0 ? std::to_string(use.layer_count) : "";
    if (use.has_output) text += text.empty() ? "output" : " + out";
    return text.empty() ? "-" : text;
  }

  void line(std::string_view label, std::string_view text) {
    console_.print_prose(
        console_.paint(Style::faint, padded(label, label_columns)) + std::string(text),
        Style::plain, label_columns);
  }

  void print_facts() {
    std::string context = plural(estimate_.context, "token", "tokens");
    if (estimate_.sequences > 1) {
      context += fmt::format(", {} for each of {} sequences",
                             format_digits(estimate_.context_per_sequence), estimate_.sequences);
    }
    const std::uint64_t own = result_.profile.context_length();
    const bool is_own = estimate_.context_per_sequence == own;
    const std::uint64_t asked = result_.options.context > 0 ? result_.options.context : own;
    if (is_own) context += ", the model's own";
    if (asked > 0 && asked < estimate_.context_per_sequence) {
      context += fmt::format("; {} rounded up to a multiple of 256, as llama.cpp does", asked);
    }
    if (result_.advice.context && !is_own && estimate_.verdict != Verdict::does_not_fit) {
      context += own > 0 && *result_.advice.context >= own
                     ? fmt::format("; the model's own {} fit as well", format_digits(own))
                     : fmt::format("; at most {} fit", format_digits(*result_.advice.context));
    }
    line("context", context);
    if (result_.options.images > 0) line("images", images_text(result_.options, estimate_));
    if (estimate_.audio_tokens > 0) line("sound", sound_text(result_.options, estimate_));
    print_caches();
    if (result_.advice.gpu_layers) {
      line("layers", fmt::format("{} of {} on devices, the output counted as one; at most {} fit",
                                 estimate_.gpu_layers, result_.profile.layer_count() + 1,
                                 *result_.advice.gpu_layers));
    }
    line("batch", fmt::format("{} tokens at once, {}flash attention", estimate_.micro_batch,
                              estimate_.uses_flash_attention ? "" : "no "));
    std::vector<std::string> names;
    for (const Place& place : places_) names.push_back(place.name);
    std::string_view label = "speed";
    for (const std::string& text : speed_lines(result_, names))
      line(std::exchange(label, ""), text);
  }

  void print_caches() {
    std::string_view label = "cache";
    for (const CacheUse& use : estimate_.caches) {
      const bool is_state = use.kind == CacheKind::recurrent;
      std::string text =
          fmt::format("{:<9} {:>4} {} x {:>9} {}, {}", name_of(use.kind), use.layers,
                      use.layers == 1 ? "layer " : "layers", format_digits(use.cells * use.streams),
                      is_state ? "states" : "cells", format_bytes(use.key_bytes + use.value_bytes));
      if (!is_state) {
        text += ", " + type_text(result_.options.key_type);
        if (result_.options.value_type != result_.options.key_type) {
          text += " and " + type_text(result_.options.value_type);
        }
      }
      line(label, text);
      label = "";
    }
    if (estimate_.caches.empty()) line("cache", "none");
  }

  void print_notes() {
    out_.put('\n');
    for (const std::string& note : result_.profile.notes()) print_wrapped("note: " + note);
    print_wrapped("not counted: " + joined(result_.not_counted, ", "));
  }

  void print_wrapped(std::string_view text) {
    console_.print_line(Style::faint, wrap(text, width_, 0, 0));
  }

  Console& console_;
  Output& out_;
  const FitResult& result_;
  const MemoryEstimate& estimate_;
  std::size_t width_;
  std::size_t name_columns_ = label_columns;
  std::vector<Place> places_;
};

}  // namespace

std::string_view word_of(Verdict verdict) {
  return verdict == Verdict::does_not_fit ? "does not fit" : name_of(verdict);
}

Style style_of(Verdict verdict) {
  if (verdict == Verdict::fits || verdict == Verdict::tight)
    return verdict == Verdict::fits ? Style::good : Style::warning;
  return verdict == Verdict::does_not_fit ? Style::bad : Style::plain;
}

void print_fit_page(Console& console, const FitResult& result) { FitPage(console, result).print(); }

}  // namespace ingot::cli
