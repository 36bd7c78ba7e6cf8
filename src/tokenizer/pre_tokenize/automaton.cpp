// SPDX-License-Identifier: MIT
#include "tokenizer/pre_tokenize/automaton.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/ranges.hpp"

namespace ingot::tokenizer {

// --- classes -----------------------------------------------------------------------------------

SetClasses::SetClasses(std::span<const CodePointSet> sets) : map_(make_runs(sets)) {
  for (std::size_t i = 0; i < ascii_.size(); ++i) ascii_[i] = map_[static_cast<char32_t>(i)];
}

std::vector<CodePointRun> SetClasses::make_runs(std::span<const CodePointSet> sets) {
  std::vector<char32_t> starts;
  for (const CodePointRun& run : character_class_runs()) starts.push_back(run.first);
  for (const CodePointSet& set : sets) {
    for (const CodePointSet::Range& range : set.ranges) {
      starts.push_back(range.first);
      starts.push_back(range.last + 1);
    }
  }
  sort_unique(starts);
  std::vector<CodePointRun> runs;
  std::vector<bool> membership(sets.size());
  for (const char32_t start : starts) {
    for (std::size_t i = 0; i < sets.size(); ++i) membership[i] = sets[i].contains(start);
    const auto known = std::ranges::find(members_, membership);
    const auto number = static_cast<std::uint8_t>(known - members_.begin());
    if (known == members_.end()) members_.push_back(membership);
    runs.push_back({start, number});
  }
  return runs;
}

// --- from the tree to a list of instructions ---------------------------------------------------

namespace {

/// The next action of a thread of the search; `fork` prefers `next` to `other`.
struct Instruction {
  enum class Kind : std::uint8_t { consume, look, fork, match };
  Kind kind = Kind::match;
  bool is_negated = false;
  std::size_t set = 0;
  std::size_t next = 0;
  std::size_t other = 0;
};

class Compiler {
 public:
  explicit Compiler(const ExpressionNode& expression) { first_ = compile(expression, add({})); }
  [[nodiscard]] const std::vector<Instruction>& instructions() const { return instructions_; }
  [[nodiscard]] std::size_t first() const { return first_; }

 private:
  std::size_t add(Instruction instruction) {
    instructions_.push_back(instruction);
    return instructions_.size() - 1;
  }
  std::size_t fork(std::size_t next, std::size_t other) {
    return add({.kind = Instruction::Kind::fork, .next = next, .other = other});
  }

  /// The first instruction of `node`, after which `next` goes on.
  std::size_t compile(const ExpressionNode& node, std::size_t next) {
    switch (node.kind) {
      case ExpressionNode::Kind::set:
        return add({.kind = Instruction::Kind::consume, .set = node.set, .next = next});
      case ExpressionNode::Kind::look:
        return add({.kind = Instruction::Kind::look,
                    .is_negated = node.is_negated,
                    .set = node.set,
                    .next = next});
      case ExpressionNode::Kind::sequence:
        for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
          next = compile(*child, next);
        }
        return next;
      case ExpressionNode::Kind::choice: {
        std::size_t first = compile(node.children.back(), next);
        for (auto child = node.children.rbegin() + 1; child != node.children.rend(); ++child) {
          first = fork(compile(*child, next), first);
        }
        return first;
      }
      case ExpressionNode::Kind::repetition:
        return compile_repetition(node, next);
    }
    return next;
  }

  std::size_t compile_repetition(const ExpressionNode& node, std::size_t next) {
    const ExpressionNode& body = node.children.front();
    std::size_t first = next;
    if (node.most == ExpressionNode::no_limit) {
      first = fork(0, next);
      const std::size_t loop = compile(body, first);
      instructions_[first].next = loop;
    } else {
      for (std::size_t i = node.least; i < node.most; ++i) first = fork(compile(body, first), next);
    }
    for (std::size_t i = 0; i < node.least; ++i) first = compile(body, first);
    return first;
  }

  std::vector<Instruction> instructions_;
  std::size_t first_ = 0;
};

}  // namespace

// --- from instructions to the table ------------------------------------------------------------

/// A row of the table stands for the threads that a search has after the same characters, the
/// preferred one first. What a thread does without consuming (fork, look, match) is done when the
/// next character is known, so that looking ahead by one character costs nothing.
class AutomatonBuilder {
 public:
  AutomatonBuilder(const ExpressionNode& expression, const SetClasses& classes)
      : program_(expression), classes_(classes) {}

  Result<Automaton> build() {
    Automaton automaton;
    [[maybe_unused]] const std::size_t dead = row_of({});
    automaton.first_row_ = row_of({program_.first()});
    while (filled_rows_ != pending_.size()) {
      const Threads threads = *pending_[filled_rows_++];
      for (std::size_t i = 0; i <= classes_.count(); ++i) {
        const bool matches = advance(threads, i);
        const std::size_t row = row_of(next_);
        if (row >= Automaton::match_flag) {
          return fail(Errc::internal, {}, "an expression with too many states");
        }
        automaton.table_.push_back(
            static_cast<std::uint16_t>(row | (matches ? Automaton::match_flag : 0u)));
      }
    }
    return automaton;
  }

 private:
  using Threads = std::vector<std::size_t>;

  std::size_t row_of(const Threads& threads) {
    const auto [place, is_new] = rows_.try_emplace(threads, pending_.size());
    if (is_new) pending_.push_back(&place->first);
    return place->second * (classes_.count() + 1);
  }

  /// Moves all threads over a character of a class; the class after the last is the end of the
  /// text. Returns whether the expression matches before it; threads that are less preferred than
  /// the match are given up.
  bool advance(const Threads& threads, std::size_t set_class) {
    next_.clear();
    visited_.assign(program_.instructions().size(), false);
    for (const std::size_t thread : threads) {
      if (follow(thread, set_class)) return true;
    }
    return false;
  }

  bool follow(std::size_t at, std::size_t set_class) {
    if (visited_[at]) return false;
    visited_[at] = true;
    const Instruction& instruction = program_.instructions()[at];
    const bool is_in =
        set_class < classes_.count() && instruction.kind != Instruction::Kind::match &&
        instruction.kind != Instruction::Kind::fork && classes_.is_in(instruction.set, set_class);
    switch (instruction.kind) {
      case Instruction::Kind::consume:
        if (is_in && std::ranges::find(next_, instruction.next) == next_.end()) {
          next_.push_back(instruction.next);
        }
        return false;
      case Instruction::Kind::look:
        return is_in != instruction.is_negated && follow(instruction.next, set_class);
      case Instruction::Kind::fork:
        return follow(instruction.next, set_class) || follow(instruction.other, set_class);
      case Instruction::Kind::match:
        return true;
    }
    return false;
  }

  Compiler program_;
  const SetClasses& classes_;
  std::map<Threads, std::size_t> rows_;
  std::vector<const Threads*> pending_;  // threads by number of row
  std::size_t filled_rows_ = 0;
  Threads next_;
  std::vector<bool> visited_;
};

void Automaton::find_places(std::size_t class_count) {
  const std::size_t row_size = class_count + 1;
  const auto row_after = [](std::uint16_t step) -> std::size_t { return step & ~match_flag; };
  const auto matches = [](std::uint16_t step) { return (step & match_flag) != 0; };
  places_.assign(class_count * class_count, Place::apart);
  std::vector<std::size_t> rows;
  for (std::size_t left = 0; left < class_count; ++left) {
    // Collects the states after the character on the left, for all earlier text.
    rows.clear();
    for (std::size_t row = row_size; row < table_.size(); row += row_size) {
      const std::size_t after = row_after(table_[row + left]);
      if (after != dead_row) rows.push_back(after);
    }
    sort_unique(rows);
    const std::size_t first = row_after(table_[first_row_ + left]);
    for (std::size_t right = 0; right < class_count; ++right) {
      Place& place = places_[left * class_count + right];
      // All searches must end at the character on the right, as at the end of a text. Every search
      // reaches the character on the left, at the latest by beginning there.
      if (first != dead_row && matches(table_[first + right])) place = Place::cut;
      for (const std::size_t row : rows) {
        const std::uint16_t at_right = table_[row + right];
        const std::uint16_t at_end = table_[row + class_count];
        const bool ends = row_after(at_right) == dead_row && matches(at_right) == matches(at_end);
        if (!ends) place = Place::open;
      }
    }
  }
}

Result<Automaton> Automaton::make(const ExpressionNode& expression, const SetClasses& classes) {
  INGOT_TRY(Automaton automaton, AutomatonBuilder(expression, classes).build());
  automaton.find_places(classes.count());
  return automaton;
}

}  // namespace ingot::tokenizer
