// SPDX-License-Identifier: MIT
#include "tokenizer/unicode/unicode.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "base/packed_rows.hpp"
#include "base/ranges.hpp"

namespace ingot::tokenizer {
namespace {

constexpr auto U = static_cast<std::int32_t>(Group::unassigned);
constexpr auto C = static_cast<std::int32_t>(Group::other);
constexpr auto L = static_cast<std::int32_t>(Group::letter);
constexpr auto M = static_cast<std::int32_t>(Group::mark);
constexpr auto N = static_cast<std::int32_t>(Group::number);
constexpr auto P = static_cast<std::int32_t>(Group::punctuation);
constexpr auto S = static_cast<std::int32_t>(Group::symbol);
constexpr auto Z = static_cast<std::int32_t>(Group::separator);

constexpr std::int32_t group_table[][2] = {
#define G(first, group) {0x##first, group},
#include "tokenizer/unicode/unicode_groups.def"
#undef G
};

struct Range {
  char32_t first;
  char32_t last;
};
// PropList.txt, White_Space.
constexpr std::array<Range, 10> white_space = {{{0x09, 0x0D},
                                                {0x20, 0x20},
                                                {0x85, 0x85},
                                                {0xA0, 0xA0},
                                                {0x1680, 0x1680},
                                                {0x2000, 0x200A},
                                                {0x2028, 0x2029},
                                                {0x202F, 0x202F},
                                                {0x205F, 0x205F},
                                                {0x3000, 0x3000}}};

/// Every `step`th code point from first to last has its lower case `difference` away.
struct LowerRun {
  char32_t first;
  char32_t last;
  char32_t step;
  std::int32_t difference;
};
constexpr std::int32_t lower_table[][4] = {
#define L(first, last, step, difference) {0x##first, 0x##last, step, difference},
#include "tokenizer/unicode/unicode_lower.def"
#undef L
};
const auto& lower_runs() {
  static const auto runs = unpack_rows<lower_table>([](const auto& row) {
    return LowerRun{static_cast<char32_t>(row[0]), static_cast<char32_t>(row[1]),
                    static_cast<char32_t>(row[2]), row[3]};
  });
  return runs;
}

struct BaseRun {
  char32_t first;
  char32_t last;
  char32_t base;
};
constexpr std::int32_t base_table[][3] = {
#define B(first, last, base) {0x##first, 0x##last, 0x##base},
#include "tokenizer/unicode/unicode_bases.def"
#undef B
};
const auto& base_runs() {
  static const auto runs = unpack_rows<base_table>([](const auto& row) {
    return BaseRun{static_cast<char32_t>(row[0]), static_cast<char32_t>(row[1]),
                   static_cast<char32_t>(row[2])};
  });
  return runs;
}

/// The run that holds a code point; nullptr if none does.
template <class Run, std::size_t count>
const Run* find_run(const std::array<Run, count>& runs, char32_t code_point) noexcept {
  const auto run = std::ranges::lower_bound(runs, code_point, {}, &Run::last);
  return run != runs.end() && run->first <= code_point ? &*run : nullptr;
}

std::vector<CodePointRun> make_class_runs() {
  const auto group_runs = unpack_rows<group_table>([](const auto& row) {
    return CodePointRun{static_cast<char32_t>(row[0]), static_cast<std::uint8_t>(row[1])};
  });
  std::vector<char32_t> starts;
  for (const CodePointRun& run : group_runs) starts.push_back(run.first);
  for (const Range& range : white_space) {
    starts.push_back(range.first);
    starts.push_back(range.last + 1);
  }
  sort_unique(starts);
  std::vector<CodePointRun> runs;
  for (const char32_t start : starts) {
    const auto next = std::ranges::upper_bound(group_runs, start, {}, &CodePointRun::first);
    const std::uint8_t group = std::prev(next)->value;
    const bool is_space = find_run(white_space, start) != nullptr;
    runs.push_back({start, static_cast<std::uint8_t>(
                               group | (is_space ? CharacterClass::white_space_bit : 0))});
  }
  return runs;
}

// Hangul syllables are decomposed by arithmetic: Unicode 15, section 3.12.
constexpr char32_t first_syllable = 0xAC00;
constexpr char32_t last_syllable = 0xD7A3;
constexpr char32_t first_leading_consonant = 0x1100;
constexpr char32_t syllables_per_consonant = 21 * 28;

/// 1 for all code points of the runs of a lower case or a base, 0 for the others.
std::vector<CodePointRun> make_changing_runs() {
  std::vector<Range> ranges = {{first_syllable, last_syllable}};
  for (const LowerRun& run : lower_runs()) ranges.push_back({run.first, run.last});
  for (const BaseRun& run : base_runs()) ranges.push_back({run.first, run.last});
  std::ranges::sort(ranges, {}, &Range::first);
  std::vector<CodePointRun> runs = {{0, 0}};
  char32_t end = 0;
  for (const Range& range : ranges) {
    if (range.first > end) {
      runs.push_back({end, 0});
      runs.push_back({range.first, 1});
    }
    end = std::max<char32_t>(end, range.last + 1);
  }
  runs.push_back({end, 0});
  return runs;
}

}  // namespace

std::span<const CodePointRun> character_class_runs() {
  static const std::vector<CodePointRun> runs = make_class_runs();
  return runs;
}

const CodePointMap& character_classes() {
  static const CodePointMap map(character_class_runs());
  return map;
}

bool is_unchanging(char32_t code_point) {
  static const CodePointMap changing(make_changing_runs());
  return changing[code_point] == 0;
}

char32_t to_lower(char32_t code_point) noexcept {
  const LowerRun* run = find_run(lower_runs(), code_point);
  if (run == nullptr || (code_point - run->first) % run->step != 0) return code_point;
  return static_cast<char32_t>(static_cast<std::int32_t>(code_point) + run->difference);
}

char32_t decomposition_base(char32_t code_point) noexcept {
  if (code_point >= first_syllable && code_point <= last_syllable) {
    return first_leading_consonant + (code_point - first_syllable) / syllables_per_consonant;
  }
  const BaseRun* run = find_run(base_runs(), code_point);
  return run == nullptr ? code_point : run->base;
}

}  // namespace ingot::tokenizer
