// SPDX-License-Identifier: MIT
#include "cli/progress.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <ingot/text.hpp>
#include <utility>

#include "cli/console.hpp"
#include "cli/output.hpp"
#include "cli/table.hpp"
#include "system/system.hpp"

namespace ingot::cli {
namespace {

std::string time_text(double seconds) {
  const auto whole = static_cast<std::uint64_t>(std::min(seconds + 0.5, 359999.0));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

}  // namespace

Progress::Progress(const Console& console, std::string subject, std::uint64_t total_bytes)
    : console_(console),
      subject_(std::move(subject)),
      total_bytes_(total_bytes),
      next_draw_(start_),
      is_enabled_(console.shows_progress()) {
  // Short work needs no bar, unless the user asked for one.
  if (!console.always_shows_progress()) next_draw_ += std::chrono::seconds(1);
}

Progress::~Progress() {
  if (drawn_columns_ == 0) return;
  replace_line({});
  system::write_all(system::standard_error, "\r");
}

void Progress::update(std::uint64_t done_bytes) {
  if (!is_enabled_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_draw_) return;
  next_draw_ = now + std::chrono::milliseconds(100);
  draw(done_bytes, std::chrono::duration<double>(now - start_).count());
}

GoOn Progress::go_on() {
  return [this](std::uint64_t done_bytes) {
    update(done_bytes);
    return stop_signal() == 0;
  };
}

void Progress::draw(std::uint64_t done_bytes, double seconds) {
  const double share =
      total_bytes_ == 0
          ? 1.0
          : std::min(1.0, static_cast<double>(done_bytes) / static_cast<double>(total_bytes_));
  std::string facts = fmt::format(" {:3.0f}%  {} of {}", share * 100, format_bytes(done_bytes),
                                  format_bytes(total_bytes_));
  if (total_bytes_ == 0) facts = "  " + format_bytes(done_bytes);
  if (seconds > 0 && done_bytes > 0 && total_bytes_ != 0) {
    const double rate = static_cast<double>(done_bytes) / seconds;
    facts += fmt::format(
        "  {}/s  {} left", format_bytes(static_cast<std::uint64_t>(rate)),
        time_text(static_cast<double>(total_bytes_ - std::min(total_bytes_, done_bytes)) / rate));
  }
  const std::size_t columns = std::min<std::size_t>(console_.width(), 80) - 1;
  // The end of a path tells files apart, and a bar says more than a long name.
  constexpr std::size_t shortest_bar = 11;
  const std::string_view name = std::string_view(subject_).substr(subject_.find_last_of('/') + 1);
  const std::size_t room = columns - std::min(columns, facts.size() + shortest_bar);
  std::string line = escape_shortened(name, std::clamp<std::size_t>(room, 10, 20));
  const std::size_t used = display_columns(line) + facts.size() + 3;
  if (used + 8 <= columns) {
    const std::size_t cells = std::min<std::size_t>(columns - used, 24);
    line += " [" + bar(share, cells, console_.is_unicode(), '.') + "]";
  }
  replace_line(line + facts);
}

void Progress::replace_line(const std::string& line) {
  // Blanks instead of an escape sequence: stderr may be a file under `--progress always`.
  const std::size_t columns = display_columns(line);
  const std::size_t blanks = drawn_columns_ > columns ? drawn_columns_ - columns : 0;
  drawn_columns_ = columns;
  system::write_all(system::standard_error, "\r" + line + std::string(blanks, ' '));
}

}  // namespace ingot::cli
