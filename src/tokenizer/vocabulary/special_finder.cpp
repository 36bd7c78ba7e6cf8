// SPDX-License-Identifier: MIT
#include "tokenizer/vocabulary/special_finder.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <queue>
#include <tuple>

#include "tokenizer/unicode/unicode.hpp"

namespace ingot::tokenizer {

SpecialFinder::SpecialFinder(const VocabularyData& data) : data_(data) {
  std::vector<std::uint32_t> shown;
  std::vector<std::uint32_t> all;
  for (std::uint32_t number = 0; number < data.texts.size(); ++number) {
    const auto id = static_cast<TokenId>(number);
    if (!data.is_found_in_text(id)) continue;
    const std::size_t size_bytes = data.text(id).size();
    all.push_back(number);
    max_bytes_ = std::max(max_bytes_, size_bytes);
    if (data.is_hidden(id)) continue;
    shown.push_back(number);
    max_shown_bytes_ = std::max(max_shown_bytes_, size_bytes);
  }
  always_ = PrefixTable(data.texts, shown);
  on_request_ = PrefixTable(data.texts, all);
}

/// Takes occurrences in the order of `split`. Each place of the text has one occurrence waiting:
/// the longest that still fits before the next one that was taken.
class SpecialFinder::Search {
 public:
  /// `everywhere` holds the tokens that are found in the plain ranges, too.
  Search(const VocabularyData& data, const PrefixTable& table, const PrefixTable& everywhere,
         std::span<const ByteRange> plain_ranges, std::string_view text)
      : data_(data),
        table_(table),
        everywhere_(everywhere),
        plain_ranges_(plain_ranges),
        text_(text),
        hashed_(table.hash(text)) {}

  std::vector<TextPart> run() {
    for (std::size_t i = 0; i < text_.size(); ++i) wait_for(i, text_.size());
    while (!waiting_.empty()) {
      const Occurrence best = waiting_.top();
      waiting_.pop();
      try_to_take(best);
    }
    return parts();
  }

 private:
  struct Occurrence {
    std::size_t size_bytes = 0;
    TokenId id = no_token;
    std::size_t begin = 0;

    /// Whether `other` is taken first.
    bool operator<(const Occurrence& other) const noexcept {
      return std::tuple(size_bytes, other.id, other.begin) <
             std::tuple(other.size_bytes, id, begin);
    }
  };
  struct Taken {
    TokenId id = no_token;
    std::size_t token_begin = 0;
    std::size_t token_end = 0;
    std::size_t end = 0;  // its end, with the white space that it strips
  };

  /// The longest token at `begin` that ends at `end` at the latest.
  void wait_for(std::size_t begin, std::size_t end) {
    if (!table_.can_begin_with(text_[begin])) return;
    const Trie::Match match = longest(begin, end);
    if (match.number == Trie::no_text) return;
    waiting_.push({match.size_bytes, static_cast<TokenId>(match.number), begin});
  }

  [[nodiscard]] Trie::Match longest(std::size_t begin, std::size_t end) const {
    const auto next = std::ranges::upper_bound(plain_ranges_, begin, {}, &ByteRange::end);
    if (next == plain_ranges_.end() || next->begin >= end) {
      return table_.longest(data_.texts, text_, hashed_, begin, end);
    }
    const Trie::Match shown = everywhere_.longest(data_.texts, text_, hashed_, begin, end);
    if (next->begin <= begin) return shown;
    const Trie::Match any = table_.longest(data_.texts, text_, hashed_, begin, next->begin);
    const bool is_shown_longer = any.number == Trie::no_text || (shown.number != Trie::no_text &&
                                                                 shown.size_bytes > any.size_bytes);
    return is_shown_longer ? shown : any;
  }

  void try_to_take(const Occurrence& one) {
    const auto after = taken_.upper_bound(one.begin);
    const std::size_t left = after == taken_.begin() ? 0 : std::prev(after)->second.end;
    const std::size_t right = after == taken_.end() ? text_.size() : after->first;
    if (left > one.begin) return;
    const std::size_t end = one.begin + one.size_bytes;
    if (end > right) return wait_for(one.begin, right);
    // The table compares hashes of long texts.
    if (text_.substr(one.begin, one.size_bytes) != data_.text(one.id)) {
      return wait_for(one.begin, end - 1);
    }
    std::size_t stripped_begin = one.begin;
    std::size_t stripped_end = end;
    if (std::ranges::binary_search(data_.strip_left, one.id)) {
      while (stripped_begin > left && is_ascii_space(text_[stripped_begin - 1])) --stripped_begin;
    }
    if (std::ranges::binary_search(data_.strip_right, one.id)) {
      while (stripped_end < right && is_ascii_space(text_[stripped_end])) ++stripped_end;
    }
    taken_[stripped_begin] = {one.id, one.begin, end, stripped_end};
  }

  [[nodiscard]] std::vector<TextPart> parts() const {
    std::vector<TextPart> result;
    std::size_t begin = 0;
    for (const auto& [stripped_begin, token] : taken_) {
      if (begin != stripped_begin) result.push_back({no_token, begin, stripped_begin});
      result.push_back({token.id, token.token_begin, token.token_end});
      begin = token.end;
    }
    if (begin != text_.size()) result.push_back({no_token, begin, text_.size()});
    return result;
  }

  const VocabularyData& data_;
  const PrefixTable& table_;
  const PrefixTable& everywhere_;
  std::span<const ByteRange> plain_ranges_;
  std::string_view text_;
  HashedText hashed_;
  std::priority_queue<Occurrence> waiting_;
  // Tokens by the beginning of the white space that they strip.
  std::map<std::size_t, Taken> taken_;
};

std::vector<TextPart> SpecialFinder::split(std::string_view text, bool parse_special,
                                           std::span<const ByteRange> plain_ranges) const {
  if (text.empty()) return {};
  const PrefixTable& table = parse_special ? on_request_ : always_;
  if (table.empty()) return {{no_token, 0, text.size()}};
  return Search(data_, table, always_, plain_ranges, text).run();
}

std::vector<bool> SpecialFinder::find_cuts(std::string_view text, bool parse_special) const {
  const PrefixTable& table = parse_special ? on_request_ : always_;
  const HashedText hashed = table.hash(text);
  std::vector<bool> cuts(text.size(), true);
  std::size_t spaces_begin = 0;  // white space that was counted last
  std::size_t spaces_end = 0;
  // The end of tokens that begin before a place, with the text that they strip.
  std::size_t closed = 0;
  for (std::size_t place = 0; place < text.size(); ++place) {
    const bool is_stripped =
        !data_.strip_left.empty() && place != 0 && is_ascii_space(text[place - 1]);
    cuts[place] = place != 0 && closed < place && !is_stripped;
    if (table.empty() || !table.can_begin_with(text[place])) continue;
    const Trie::Match match = table.longest(data_.texts, text, hashed, place, text.size());
    if (match.number == Trie::no_text) continue;
    std::size_t end = place + match.size_bytes;
    if (!data_.strip_right.empty()) {
      if (end < spaces_begin || end > spaces_end) spaces_begin = spaces_end = end;
      while (spaces_end < text.size() && is_ascii_space(text[spaces_end])) ++spaces_end;
      end = spaces_end;
    }
    closed = std::max(closed, end);
  }
  return cuts;
}

}  // namespace ingot::tokenizer
