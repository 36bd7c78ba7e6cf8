// SPDX-License-Identifier: MIT
// Lines of a width.
#include <algorithm>

#include "chat/values/text_functions.hpp"

namespace ingot::chat {
namespace {

class Wrapper {
 public:
  Wrapper(std::string_view line, const WrapOptions& options) : options_(options) {
    for (std::size_t at = 0; at < line.size();) {
      const Character character = first_character(line.substr(at));
      places_.push_back(at);
      characters_.push_back(character.is_valid ? character.code_point : 0);
      at += character.size_bytes;
    }
    places_.push_back(line.size());
  }

  std::vector<std::pair<std::size_t, std::size_t>> run() {
    const std::vector<std::size_t> ends = chunk_ends();
    std::size_t at = 0;
    std::size_t chunk = 0;
    while (at < characters_.size()) {
      if (!lines_.empty() && is_blank(at, ends[chunk])) {
        at = ends[chunk++];
        if (at == characters_.size()) break;
      }
      const std::size_t begin = at;
      const std::size_t most = begin + std::min(options_.width, characters_.size() - begin);
      std::size_t last = begin;  // where the last chunk of the line begins
      while (chunk < ends.size() && ends[chunk] <= most) {
        last = at;
        at = ends[chunk++];
      }
      const bool is_long = chunk < ends.size() && ends[chunk] - at > options_.width;
      if (is_long && options_.breaks_long_words) {
        last = at;
        at = long_word_end(at, most, ends[chunk]);
      } else if (is_long && at == begin) {
        at = ends[chunk++];
      }
      add(begin, is_blank(last, at) ? last : at);
    }
    return std::move(lines_);
  }

 private:
  [[nodiscard]] char32_t at(std::size_t place) const {
    return place < characters_.size() ? characters_[place] : U' ';
  }
  [[nodiscard]] bool is_gap(std::size_t place) const {
    const char32_t c = at(place);
    return c == U' ' || (c >= 9 && c <= 13);
  }
  [[nodiscard]] bool is_word(std::size_t place) const { return continues_name(at(place)); }
  [[nodiscard]] bool is_letter(std::size_t place) const {
    return is_word(place) && class_of(at(place)) != CharacterClass::decimal;
  }
  /// A character that may stand before a dash.
  [[nodiscard]] bool ends_word(std::size_t place) const {
    return is_word(place) ||
           (at(place) < 0x80 && std::string_view("!\"'&.,?").find(static_cast<char>(at(place))) !=
                                    std::string_view::npos);
  }
  [[nodiscard]] bool is_blank(std::size_t begin, std::size_t end) const {
    return std::all_of(characters_.begin() + static_cast<std::ptrdiff_t>(begin),
                       characters_.begin() + static_cast<std::ptrdiff_t>(end), is_space);
  }

  /// The end of two or more hyphens at a place, between two words; the place itself if there is
  /// none.
  [[nodiscard]] std::size_t dash_end(std::size_t place) const {
    if (place == 0 || at(place) != U'-' || !ends_word(place - 1)) return place;
    std::size_t end = place;
    while (at(end) == U'-') ++end;
    return end - place >= 2 && is_word(end) ? end : place;
  }

  /// Whether a word may be cut behind a hyphen.
  [[nodiscard]] bool parts_word(std::size_t hyphen) const {
    if (at(hyphen) != U'-' || hyphen < 2 || !is_letter(hyphen + 1)) return false;
    const bool is_word_before =
        (is_letter(hyphen - 2) && is_letter(hyphen - 1)) ||
        (hyphen >= 3 && is_letter(hyphen - 3) && at(hyphen - 2) == U'-' && is_letter(hyphen - 1));
    return is_word_before &&
           (is_letter(hyphen + 2) || (at(hyphen + 2) == U'-' && is_letter(hyphen + 3)));
  }

  /// The ends of gaps, words and parts of words.
  [[nodiscard]] std::vector<std::size_t> chunk_ends() const {
    std::vector<std::size_t> ends;
    for (std::size_t begin = 0; begin < characters_.size(); begin = ends.back()) {
      std::size_t end = begin;
      if (is_gap(begin)) {
        while (end < characters_.size() && is_gap(end)) ++end;
      } else if (options_.breaks_on_hyphens && dash_end(begin) > begin) {
        end = dash_end(begin);
      } else {
        end = word_end(begin);
      }
      ends.push_back(end);
    }
    return ends;
  }

  [[nodiscard]] std::size_t word_end(std::size_t begin) const {
    std::size_t end = begin + 1;
    for (; end < characters_.size() && !is_gap(end); ++end) {
      if (!options_.breaks_on_hyphens) continue;
      if (parts_word(end)) return end + 1;
      if (dash_end(end) > end) return end;
    }
    return end;
  }

  /// Where a word that is longer than a line is cut: behind the last hyphen that fits, if more than
  /// hyphens stand before it.
  [[nodiscard]] std::size_t long_word_end(std::size_t begin, std::size_t most,
                                          std::size_t end) const {
    if (!options_.breaks_on_hyphens || end <= most) return most;
    std::size_t hyphen = most;
    while (hyphen > begin && at(hyphen - 1) != U'-') --hyphen;
    const auto first = characters_.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = characters_.begin() + static_cast<std::ptrdiff_t>(hyphen);
    const bool has_more =
        hyphen > begin + 1 && std::any_of(first, last - 1, [](char32_t c) { return c != U'-'; });
    return has_more ? hyphen : most;
  }

  void add(std::size_t begin, std::size_t end) {
    if (begin < end) lines_.emplace_back(places_[begin], places_[end]);
  }

  const WrapOptions& options_;
  std::vector<std::size_t> places_;  ///< bytes at which characters begin
  std::vector<char32_t> characters_;
  std::vector<std::pair<std::size_t, std::size_t>> lines_;
};

}  // namespace

std::vector<std::pair<std::size_t, std::size_t>> wrapped(std::string_view line,
                                                         const WrapOptions& options) {
  return Wrapper(line, options).run();
}

}  // namespace ingot::chat
