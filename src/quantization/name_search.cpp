// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "quantization/name_expression.hpp"

namespace ingot::quantization {

/// A search in one name: follows all ways through the steps at the same time, character by
/// character.
class NameSearch {
 public:
  NameSearch(const NameExpression& expression, std::string_view name)
      : expression_(expression), name_(name), looks_(expression.look_count_ * (name.size() + 1)) {}

  /// Whether the steps from one on match at a place, or, not anchored, behind it.
  bool run(std::size_t first_step, std::size_t start, bool is_anchored) {
    const std::vector<Step>& steps = expression_.steps_;
    std::vector<std::size_t> now;
    std::vector<bool> is_added(steps.size());
    add(now, is_added, first_step, start);
    for (std::size_t place = start;; ++place) {
      const auto is_match = [&](std::size_t at) { return steps[at].kind == Step::Kind::match; };
      if (std::ranges::any_of(now, is_match)) return true;
      if (place == name_.size()) return false;
      std::vector<std::size_t> next;
      is_added.assign(steps.size(), false);
      for (const std::size_t at : now) {
        const bool is_taken = expression_.sets_[steps[at].index][byte_of(name_[place])];
        if (is_taken) add(next, is_added, at + 1, place + 1);
      }
      if (!is_anchored) add(next, is_added, first_step, place + 1);
      if (is_anchored && next.empty()) return false;
      now = std::move(next);
    }
  }

 private:
  using Step = NameExpression::Step;
  enum class Look : std::uint8_t { unknown, matches, fails };

  /// Adds the steps that take a character, or end the expression, that can be reached from a step.
  void add(std::vector<std::size_t>& reached, std::vector<bool>& is_added, std::size_t step,
           std::size_t place) {
    std::vector<std::size_t> open = {step};
    while (!open.empty()) {
      const std::size_t at = open.back();
      open.pop_back();
      if (is_added[at]) continue;
      is_added[at] = true;
      const Step& here = expression_.steps_[at];
      const std::size_t target = at + static_cast<std::size_t>(here.distance);
      switch (here.kind) {
        case Step::Kind::set:
        case Step::Kind::match:
          reached.push_back(at);
          break;
        case Step::Kind::fork:
          open.push_back(target);
          open.push_back(at + 1);
          break;
        case Step::Kind::jump:
          open.push_back(target);
          break;
        case Step::Kind::start:
          if (place == 0) open.push_back(at + 1);
          break;
        case Step::Kind::end:
          if (place == name_.size()) open.push_back(at + 1);
          break;
        case Step::Kind::word_border:
          if (is_word_border(place) != here.is_negated) open.push_back(at + 1);
          break;
        case Step::Kind::look_ahead:
          if (look_ahead(at, place) != here.is_negated) open.push_back(target);
          break;
      }
    }
  }

  [[nodiscard]] bool is_word_border(std::size_t place) const {
    const bool is_after = place > 0 && is_word_character(name_[place - 1]);
    const bool is_before = place < name_.size() && is_word_character(name_[place]);
    return is_after != is_before;
  }

  /// Looks once at each place; else looks in looks would take exponential time.
  bool look_ahead(std::size_t step, std::size_t place) {
    const std::size_t look = expression_.steps_[step].index * (name_.size() + 1) + place;
    if (looks_[look] == Look::unknown) {
      looks_[look] = run(step + 1, place, true) ? Look::matches : Look::fails;
    }
    return looks_[look] == Look::matches;
  }

  const NameExpression& expression_;
  std::string_view name_;
  std::vector<Look> looks_;
};

bool NameExpression::is_found_in(std::string_view name) const {
  return NameSearch(*this, name).run(0, 0, false);
}

}  // namespace ingot::quantization
