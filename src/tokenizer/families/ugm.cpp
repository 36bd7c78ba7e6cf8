// SPDX-License-Identifier: MIT
// Unigram: the text is normalized, and of all ways to cut it into tokens the one with the highest
// sum of scores is taken.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tokenizer/families/charsmap.hpp"
#include "tokenizer/families/family_encoder.hpp"
#include "tokenizer/families/join_filter.hpp"
#include "tokenizer/vocabulary/token_keys.hpp"
#include "tokenizer/vocabulary/trie.hpp"

namespace ingot::tokenizer {
namespace {

/// What a character without a token costs more than the worst token.
constexpr float unknown_penalty = 10.0F;

/// Normalized texts may be longer than the text by so much; Unicode's own forms need a factor
/// of 11.
constexpr std::size_t max_growth = 64;
constexpr std::size_t max_growth_slack = 65'536;
/// Places in the normalized text have 32 bits; a character may add a space symbol per byte.
constexpr std::size_t max_normalized_bytes = 0x3FFF'FFFF;

/// Bytes of text over which sums of these scores are exact in double, whatever their order; 0 if
/// they never are. Then the parts between safe cuts have the same best way apart from one another.
std::size_t exact_bytes(const std::vector<float>& scores) {
  int lowest_bit = 0;
  double largest = 1.0;
  for (const float score : scores) {
    if (!std::isfinite(score)) return 0;
    if (score == 0.0F) continue;
    int exponent = 0;
    std::frexp(score, &exponent);
    lowest_bit = std::min(lowest_bit, exponent - std::numeric_limits<float>::digits);
    largest = std::max(largest, std::fabs(static_cast<double>(score)));
  }
  const double bytes =
      std::ldexp(1.0, std::numeric_limits<double>::digits + lowest_bit) / largest - 1.0;
  return static_cast<std::size_t>(
      std::clamp(bytes, 0.0, static_cast<double>(Tokenizer::max_text_bytes)));
}

class UgmEncoder final : public FamilyEncoder {
 public:
  UgmEncoder(const VocabularyData& data, Charsmap charsmap)
      : data_(data),
        charsmap_(std::move(charsmap)),
        filter_(data.texts.size()),
        unknown_(data.special(SpecialToken::unk)) {
    std::vector<std::uint32_t> usable;
    std::vector<std::uint32_t> user_defined;
    float lowest = std::numeric_limits<float>::infinity();
    scores_.assign(data.texts.size() + 1, 0.0F);
    for (std::uint32_t id = 0; id < data.texts.size(); ++id) {
      const TokenKind kind = data.file_kinds[id];
      if (kind == TokenKind::user_defined) user_defined.push_back(id);
      if (kind == TokenKind::normal) lowest = std::min(lowest, data.scores[id]);
      const bool is_usable =
          kind == TokenKind::normal || kind == TokenKind::user_defined || kind == TokenKind::unused;
      if (!is_usable) continue;
      if (kind != TokenKind::user_defined) scores_[id] = data.scores[id];
      usable.push_back(id);
      filter_.add_token(data.texts[id]);
    }
    if (lowest == std::numeric_limits<float>::infinity()) lowest = 0.0F;
    scores_.back() = unknown_score_ = lowest - unknown_penalty;
    exact_bytes_ = exact_bytes(scores_);
    tokens_ = Trie(data.texts, usable);
    user_defined_ = Trie(data.texts, user_defined);
    for (std::size_t i = 0; i < is_plain_.size(); ++i) {
      const char c = static_cast<char>(i);
      is_plain_[i] = !user_defined_.can_begin_with(c) && charsmap_.leaves_before_ascii(c);
    }
  }

  void encode(std::string_view piece, bool, Work& work) const override {
    if (!normalize(piece, work.normalized)) {
      work.is_too_long = true;
      return;
    }
    work.origins = work.normalized.origins;
    const std::string_view text = work.normalized.text;
    const std::size_t first = work.ids.size();
    std::vector<Way> ways;
    const auto encode_part = [&](std::string_view part) {
      const auto begin = static_cast<std::size_t>(part.data() - text.data());
      const std::size_t first_of_part = work.ids.size();
      encode_word(part, begin, work, [&](std::string_view anew, std::size_t place) {
        encode_anew(anew, place, ways, work);
      });
      if (first_of_part != first) join_unknown(first_of_part, work);
    };
    if (text.size() <= exact_bytes_) {
      filter_.split(text, encode_part);
    } else if (!text.empty()) {
      encode_part(text);
    }
  }

  /// Sums of scores are rounded, so that what comes before decides between ways that are equally
  /// good but for rounding.
  [[nodiscard]] bool can_cut(std::string_view, std::size_t) const override { return false; }

 private:
  // --- normalization ---------------------------------------------------------------------------

  struct Replaced {
    std::string_view text;
    std::size_t source_bytes = 0;
  };

  /// What becomes of the text at a place.
  [[nodiscard]] Replaced replace(std::string_view text) const {
    if (user_defined_.can_begin_with(text[0])) {
      const Trie::Match match = user_defined_.longest_prefix(data_.texts, text);
      if (match.number != Trie::no_text)
        return {text.substr(0, match.size_bytes), match.size_bytes};
    }
    const Charsmap::Match match = charsmap_.find(text);
    if (match.size_bytes != 0) return {match.replacement, match.size_bytes};
    constexpr std::string_view replacement = "\xEF\xBF\xBD";
    const LenientCharacter character = decode_lenient(text);
    const bool is_valid =
        character.code_point != replacement_character || text.starts_with(replacement);
    if (!is_valid) return {replacement, 1};
    return {text.substr(0, character.size_bytes), character.size_bytes};
  }

  /// The end of the ASCII characters from `begin` on that stay as they are.
  [[nodiscard]] std::size_t plain_end(std::string_view text, std::size_t begin) const {
    const auto is_plain = [&](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return byte < is_plain_.size() && is_plain_[byte];
    };
    std::size_t end = begin;
    while (end < text.size() && is_plain(text[end])) ++end;
    // The last one may be the first part of a character.
    const bool is_followed = end < text.size() && static_cast<unsigned char>(text[end]) >= 0x80;
    return is_followed && end != begin ? end - 1 : end;
  }

  /// Returns whether the result is within the limit.
  bool normalize(std::string_view text, NormalizedText& result) const {
    const std::size_t max_bytes =
        std::min(max_normalized_bytes, text.size() * max_growth + max_growth_slack);
    const bool joins_spaces = data_.flags.removes_extra_spaces;
    bool needs_prefix = data_.flags.has_space_prefix;
    bool is_in_word = false;
    result.clear();
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t end = plain_end(text, i);
      const bool is_plain = end != i && !result.keeps_origins;
      const Replaced replaced =
          is_plain ? Replaced{text.substr(i, end - i), end - i} : replace(text.substr(i));
      if (result.text.size() + replaced.text.size() > max_bytes) return false;
      for (std::size_t at = 0; at < replaced.text.size();) {
        const std::size_t space = std::min(replaced.text.find(' ', at), replaced.text.size());
        if (space != at && !is_in_word) {
          if (needs_prefix || joins_spaces) result.text += space_symbol;
          needs_prefix = false;
          is_in_word = true;
        }
        result.text.append(replaced.text, at, space - at);
        at = space;
        for (; at < replaced.text.size() && replaced.text[at] == ' '; ++at) {
          is_in_word = false;
          if (!joins_spaces) result.text += space_symbol;
        }
      }
      result.mark(i);
      i += replaced.source_bytes;
    }
    if (result.keeps_origins) result.origins.push_back(text.size());
    return true;
  }

  // --- the best way ----------------------------------------------------------------------------

  /// The best way from the beginning to a place.
  struct Way {
    static constexpr std::uint32_t no_way = 0xFFFF'FFFF;

    double sum = 0.0;
    std::uint32_t begin = no_way;  // of its last token
    TokenId id = no_token;
  };

  static void offer(Way& way, double sum, std::size_t begin, TokenId id) {
    if (way.begin != Way::no_way && !(sum > way.sum)) return;
    way = {sum, static_cast<std::uint32_t>(begin), id};
  }

  void encode_anew(std::string_view word, std::size_t begin, std::vector<Way>& ways,
                   Work& work) const {
    ways.assign(word.size() + 1, Way());
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t size = std::min(character_bytes(word[at]), word.size() - at);
      const double sum = ways[at].sum;
      bool has_single = false;
      tokens_.visit_prefixes(data_.texts, word.substr(at),
                             [&](std::uint32_t id, std::size_t bytes) {
                               has_single |= bytes == size;
                               offer(ways[at + bytes], sum + static_cast<double>(scores_[id]), at,
                                     static_cast<TokenId>(id));
                             });
      if (!has_single) {
        offer(ways[at + size], sum + static_cast<double>(unknown_score_), at, unknown_);
      }
      at += size;
    }
    const std::size_t first = work.ids.size();
    for (std::size_t end = word.size(); end != 0; end = ways[end].begin) {
      const Way& way = ways[end];
      if (way.id == unknown_ && work.ids.size() != first && work.ids.back() == unknown_) {
        if (work.keeps_ranges) work.ranges.back().begin = begin + way.begin;
      } else {
        work.put(way.id, begin + way.begin, begin + end);
      }
    }
    const auto from_first = static_cast<std::ptrdiff_t>(first);
    std::reverse(work.ids.begin() + from_first, work.ids.end());
    if (work.keeps_ranges) std::reverse(work.ranges.begin() + from_first, work.ranges.end());
  }

  /// Unknown tokens side by side are one, also where a part ends.
  void join_unknown(std::size_t boundary, Work& work) const {
    if (boundary == work.ids.size() || work.ids[boundary] != unknown_ ||
        work.ids[boundary - 1] != unknown_) {
      return;
    }
    const auto place = static_cast<std::ptrdiff_t>(boundary);
    work.ids.erase(work.ids.begin() + place);
    if (!work.keeps_ranges) return;
    work.ranges[boundary - 1].end = work.ranges[boundary].end;
    work.ranges.erase(work.ranges.begin() + place);
  }

  const VocabularyData& data_;
  Charsmap charsmap_;
  Trie tokens_;
  Trie user_defined_;
  // ASCII characters that stay as they are if another one or nothing follows.
  std::array<bool, 128> is_plain_ = {};
  JoinFilter filter_;
  std::vector<float> scores_;  // by id as the lattice counts them; that of unknown text at the end
  float unknown_score_ = 0.0F;
  TokenId unknown_;
  std::size_t exact_bytes_ = 0;
};

/// The bytes of an array of 8-bit integers.
Result<std::string_view> charsmap_bytes(const Model& model) {
  const std::string key = token_key("precompiled_charsmap");
  const Value* value = model.find(key);
  if (value == nullptr) return std::string_view();
  const Array array = value->as_array();
  const bool is_bytes =
      array.element_type() == ValueType::uint8 || array.element_type() == ValueType::int8;
  if (!value->is_array() || !is_bytes) {
    return fail(Errc::wrong_type, value->file_offset(), key, "it must be an array of bytes");
  }
  return std::string_view(reinterpret_cast<const char*>(array.bytes().data()),
                          array.bytes().size());
}

}  // namespace

Result<std::unique_ptr<const FamilyEncoder>> make_ugm(const Model& model,
                                                      const VocabularyData& data) {
  INGOT_TRY(const std::string_view bytes, charsmap_bytes(model));
  INGOT_TRY(Charsmap charsmap, Charsmap::make(bytes));
  return std::make_unique<const UgmEncoder>(data, std::move(charsmap));
}

}  // namespace ingot::tokenizer
