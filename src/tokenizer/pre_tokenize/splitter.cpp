// SPDX-License-Identifier: MIT
#include "tokenizer/pre_tokenize/splitter.hpp"

#include <map>
#include <utility>

#include "base/mutex.hpp"

namespace ingot::tokenizer {

Result<Splitter> Splitter::make(std::span<const std::string_view> expressions) {
  std::vector<CodePointSet> sets;
  std::vector<std::pair<Search, ExpressionNode>> parsed;
  for (const std::string_view expression : expressions) {
    Search search = Search::automaton;
#define INGOT_SPLIT(name, ...)
#define INGOT_SEARCH(name, text) \
  if (expression == text) search = Search::name;
#include "tokenizer/pre_tokenize/splits.def"
#undef INGOT_SPLIT
#undef INGOT_SEARCH
    ExpressionNode node;
    if (search == Search::automaton) {
      INGOT_TRY(node, parse_expression(expression, sets));
    }
    parsed.emplace_back(search, std::move(node));
  }
  Splitter splitter;
  splitter.classes_ = std::make_shared<const SetClasses>(sets);
  for (const auto& [search, node] : parsed) {
    Step step{.search = search, .automaton = {}};
    if (search == Search::automaton) {
      INGOT_TRY(step.automaton, Automaton::make(node, *splitter.classes_));
    }
    splitter.steps_.push_back(std::move(step));
  }
  return splitter;
}

Result<Splitter> Splitter::of(const PreTokenizer& pre_tokenizer) {
  static Mutex mutex;
  // Splitters by list of expressions.
  static std::map<const std::string_view*, const Splitter> made;
  const MutexLock lock(mutex);
  const std::string_view* list = pre_tokenizer.expressions.data();
  auto place = made.find(list);
  if (place == made.end()) {
    INGOT_TRY(Splitter splitter, make(pre_tokenizer.expressions));
    place = made.emplace(list, std::move(splitter)).first;
  }
  return place->second;
}

bool Splitter::is_cut(char32_t left, char32_t right) const {
  for (const Step& step : steps_) {
    const Automaton::Place place = place_between(step, left, right);
    // The text for the later expressions ends here.
    if (place == Automaton::Place::cut) return true;
    if (place == Automaton::Place::open) return false;
  }
  return false;
}

Automaton::Place Splitter::place_between(const Step& step, char32_t left, char32_t right) const {
  using Place = Automaton::Place;
  switch (step.search) {
    case Search::automaton:
      return step.automaton.place_between(classes_->of(left), classes_->of(right), *classes_);
    case Search::digit_groups:  // a piece ends after the last digit of a number
      return is_number(left) && !is_number(right) ? Place::cut : Place::open;
    case Search::threes:
      return is_digit(left) && is_digit(right) ? Place::open : Place::apart;
    case Search::last_space:  // white space at the end is counted from the end
      return class_of(left).is_white_space() ? Place::open : Place::apart;
  }
  return Place::open;
}

const char* Splitter::last_space(const char* begin, const char* end) {
  while (begin != end) {
    const char* last = end - 1;
    while (last != begin && (static_cast<unsigned char>(*last) & 0xC0) == 0x80) --last;
    if (!class_of(decode_clean(last).code_point).is_white_space()) break;
    end = last;
  }
  return end;
}

}  // namespace ingot::tokenizer
