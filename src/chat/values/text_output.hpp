// SPDX-License-Identifier: MIT
// Text that grows at its end, with the origin of every byte.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chat/values/runtime_value.hpp"

namespace ingot::chat {

/// One buffer for the output and for every text that is made on the way: such a text grows behind
/// what is there, and is taken away when it is complete.
class TextOutput {
 public:
  void append(std::string_view text, std::uint8_t origin) {
    if (text.empty()) return;
    bytes_ += text;
    extend_runs(static_cast<std::uint8_t>(origin | extra_origin_));
  }
  void append(char c, std::uint8_t origin) { append(std::string_view(&c, 1), origin); }

  /// Appends a string with its own origins.
  void append(const Value& text) { append_part(text, 0, text.size); }
  void append_part(const Value& text, std::size_t begin, std::size_t end);

  struct Mark {
    std::size_t size_bytes = 0;
    std::size_t run_count = 0;
    std::size_t outer_base = 0;
  };
  /// Begins a text of its own; marks end in the reverse order.
  [[nodiscard]] Mark begin() {
    const Mark mark = {bytes_.size(), runs_.size(), base_run_};
    base_run_ = runs_.size();
    return mark;
  }
  void end(const Mark& mark) {
    bytes_.resize(mark.size_bytes);
    runs_.resize(mark.run_count);
    base_run_ = mark.outer_base;
  }
  [[nodiscard]] std::string_view text_since(const Mark& mark) const {
    return std::string_view(bytes_).substr(mark.size_bytes);
  }
  /// Runs since a mark; their ends count from the beginning of the buffer.
  [[nodiscard]] const TextRun* runs_since(const Mark& mark) const {
    return runs_.data() + mark.run_count;
  }
  [[nodiscard]] std::size_t run_count_since(const Mark& mark) const {
    return runs_.size() - mark.run_count;
  }

  /// Origin bits of everything that is appended; gives the bits that were in force.
  std::uint8_t set_extra_origin(std::uint8_t origin) {
    const std::uint8_t before = extra_origin_;
    extra_origin_ = origin;
    return before;
  }

  [[nodiscard]] std::size_t size_bytes() const { return bytes_.size(); }
  [[nodiscard]] std::string take_bytes() { return std::move(bytes_); }
  [[nodiscard]] const std::vector<TextRun>& runs() const { return runs_; }

 private:
  void extend_runs(std::uint8_t origin) {
    const auto end = static_cast<std::uint32_t>(bytes_.size());
    if (runs_.size() > base_run_ && runs_.back().origin == origin) {
      runs_.back().end = end;
    } else {
      runs_.push_back({end, origin});
    }
  }

  std::string bytes_;
  std::vector<TextRun> runs_;
  std::size_t base_run_ = 0;  ///< runs before it belong to an outer text
  std::uint8_t extra_origin_ = 0;
};

/// Calls `visit(text, origin)` for each run of a string from byte `begin` to `end`.
template <class Visit>
void for_each_run(const Value& text, std::size_t begin, std::size_t end, Visit&& visit) {
  if (!text.is_mixed()) {
    visit(text.text().substr(begin, end - begin), text.origin());
    return;
  }
  const std::span runs(text.mixed->runs, text.mixed->run_count);
  auto run = std::ranges::upper_bound(runs, begin, {}, &TextRun::end);
  for (; run != runs.end() && begin < end; ++run) {
    const std::size_t to = run->end < end ? run->end : end;
    visit(text.text().substr(begin, to - begin), run->origin);
    begin = to;
  }
}

inline void TextOutput::append_part(const Value& text, std::size_t begin, std::size_t end) {
  for_each_run(text, begin, end,
               [&](std::string_view part, std::uint8_t origin) { append(part, origin); });
}

}  // namespace ingot::chat
