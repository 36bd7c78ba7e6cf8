// SPDX-License-Identifier: MIT
// Unigram: the text is normalized, and of all ways to cut it into tokens the one with the highest
// sum of scores is taken.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "ingot/tokenizer.hpp"
#include "tokenizer/families/family_encoder.hpp"
#include "tokenizer/families/join_filter.hpp"
#include "tokenizer/families/ugm_normalizer.hpp"
#include "tokenizer/unicode/code_point_map.hpp"
#include "tokenizer/unicode/lenient_utf8.hpp"
#include "tokenizer/vocabulary/token_keys.hpp"
#include "tokenizer/vocabulary/trie.hpp"

namespace ingot::tokenizer {
namespace {

/// The tokens of single characters. Blocks without a token are stored once.
class CharacterIds {
 public:
  /// The id of a text that is a single character; no_token if it is not one, or has none. The text
  /// is not empty.
  [[nodiscard]] TokenId find(std::string_view text) const noexcept {
    const auto lead = static_cast<unsigned char>(text[0]);
    if (lead < 0x80) return text.size() == 1 ? id_of(lead) : no_token;
    const auto character = decode_single(text);
    return character ? id_of(*character) : no_token;
  }
  void set(char32_t code_point, TokenId id) {
    std::uint16_t& block = table_.blocks[code_point / table_.block_size];
    if (block == 0) {
      block = static_cast<std::uint16_t>(table_.values.size() / table_.block_size);
      table_.values.resize(table_.values.size() + table_.block_size, no_token);
    }
    table_.values[table_.place_of(code_point)] = id;
  }

 private:
  [[nodiscard]] TokenId id_of(char32_t code_point) const noexcept {
    return table_.values[table_.place_of(code_point)];
  }

  CodePointBlocks<TokenId> table_ = {.values = std::vector<TokenId>(table_.block_size, no_token)};
};

/// The extra cost of a character without a token over the worst token.
constexpr float unknown_penalty = 10.0F;

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
        normalizer_(data, std::move(charsmap), user_defined_tokens(data)),
        filter_(data.texts.size()),
        unknown_(data.special(SpecialToken::unk)) {
    std::vector<std::uint32_t> in_trie;
    float lowest = std::numeric_limits<float>::infinity();
    scores_.assign(data.texts.size() + 1, 0.0F);
    for (std::uint32_t id = 0; id < data.texts.size(); ++id) {
      const TokenKind kind = data.file_kinds[id];
      if (kind == TokenKind::normal) lowest = std::min(lowest, data.scores[id]);
      const bool is_usable =
          kind == TokenKind::normal || kind == TokenKind::user_defined || kind == TokenKind::unused;
      if (!is_usable) continue;
      if (kind != TokenKind::user_defined) scores_[id] = data.scores[id];
      if (add_token(data.texts[id], static_cast<TokenId>(id))) in_trie.push_back(id);
    }
    if (lowest == std::numeric_limits<float>::infinity()) lowest = 0.0F;
    scores_.back() = unknown_score_ = lowest - unknown_penalty;
    exact_bytes_ = exact_bytes(scores_);
    tokens_ = Trie(data.texts, in_trie);
    characters_.set(' ', characters_.find(space_symbol));  // for a part that is a space
  }

  void encode(std::string_view piece, bool, Work& work) const override {
    if (encode_in_parts(piece, work)) return;
    if (!normalizer_.normalize(piece, work.normalized)) {
      work.is_too_long = true;
      return;
    }
    work.origins = work.normalized.origins;
    const std::string_view text = work.normalized.text;
    const std::size_t first = work.ids.size();
    std::vector<Way> ways;
    const auto encode_part = [&](std::string_view part) {
      const auto begin = static_cast<std::size_t>(part.data() - text.data());
      encode_joined(part, begin, first, ways, work);
    };
    if (text.size() <= exact_bytes_) {
      filter_.split(text, encode_part);
    } else if (!text.empty()) {
      encode_part(text);
    }
  }

  /// No place can be cut: sums of scores are rounded, so earlier text decides between ways that
  /// differ only by rounding.
  [[nodiscard]] bool can_cut(std::string_view, std::size_t) const override { return false; }

 private:
  /// The best way from the beginning to a place.
  struct Way {
    static constexpr std::uint32_t no_way = 0xFFFF'FFFF;

    double sum = 0.0;
    std::uint32_t begin = no_way;  // begin of its last token
    TokenId id = no_token;
  };

  /// Encodes without the normalized text as a whole; possible if no range of it is requested and no
  /// token spans words.
  /// @return false if that is not possible; nothing is appended then.
  bool encode_in_parts(std::string_view piece, Work& work) const {
    if (work.keeps_ranges || has_inner_space_ || !normalizer_.can_find_parts()) return false;
    const std::size_t first = work.ids.size();
    const std::size_t max_bytes = std::min(exact_bytes_, UgmNormalizer::max_bytes_of(piece));
    std::vector<Way> ways;
    const bool is_done = normalizer_.for_each_part(
        piece, filter_, max_bytes, work.normalized.text,
        [&](std::string_view part) { encode_joined(part, 0, first, ways, work); });
    if (!is_done) work.ids.resize(first);
    return is_done;
  }

  /// Encodes a part between safe cuts, which may follow other parts; ids of the text begin at
  /// `first`.
  void encode_joined(std::string_view part, std::size_t begin, std::size_t first,
                     std::vector<Way>& ways, Work& work) const {
    const std::size_t first_of_part = work.ids.size();
    if (const TokenId id = characters_.find(part); id != no_token) {
      work.put(id, begin, begin + part.size());
    } else {
      encode_word(part, begin, work, [&](std::string_view anew, std::size_t place) {
        encode_anew(anew[0] == ' ' ? spell(anew, work.replaced.text) : anew, place, ways, work);
      });
    }
    if (first_of_part != first) join_unknown(first_of_part, work);
  }

  /// A part that begins with a space with the space symbol instead.
  static std::string_view spell(std::string_view part, std::string& result) {
    return result.assign(space_symbol).append(part.substr(1));
  }

  /// Adds a token to all but the trie.
  /// @return  whether the trie needs it. It finds the characters of ASCII, too: nearly all of them
  ///          lie on the way to longer tokens.
  bool add_token(std::string_view text, TokenId id) {
    if (const auto character = decode_single(text)) {
      if (characters_.find(text) == no_token) characters_.set(*character, id);
      return text.size() == 1;
    }
    filter_.add_token(text);
    if (text.starts_with(space_symbol)) {
      const std::string_view next = text.substr(space_symbol.size());
      filter_.add(" ", next.substr(0, character_bytes(next[0])));
    }
    has_inner_space_ |= text.find(space_symbol, 1) != std::string_view::npos;
    return true;
  }

  static Trie user_defined_tokens(const VocabularyData& data) {
    return Trie::of(data.texts, [&](std::uint32_t id) {
      return data.file_kinds[id] == TokenKind::user_defined;
    });
  }

  static void offer(Way& way, double sum, std::size_t begin, TokenId id) {
    if (way.begin != Way::no_way && !(sum > way.sum)) return;
    way = {sum, static_cast<std::uint32_t>(begin), id};
  }

  /// Offers the token of a character that is not in the trie, else the unknown one. Apart from the
  /// loop over a word, which needs its registers.
  [[gnu::noinline]] void offer_single(Way& way, double sum, std::size_t begin,
                                      std::string_view text) const {
    const TokenId id = characters_.find(text);
    if (id == no_token) {
      offer(way, sum + static_cast<double>(unknown_score_), begin, unknown_);
    } else {
      offer(way, sum + static_cast<double>(scores_[static_cast<std::size_t>(id)]), begin, id);
    }
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
      if (!has_single) offer_single(ways[at + size], sum, at, word.substr(at, size));
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
  UgmNormalizer normalizer_;
  Trie tokens_;              // tokens of several characters, or of one of ASCII
  CharacterIds characters_;  // tokens of one character
  JoinFilter filter_;
  // Scores by id as the lattice uses them; that of unknown text is last.
  std::vector<float> scores_;
  float unknown_score_ = 0.0F;
  TokenId unknown_;
  std::size_t exact_bytes_ = 0;
  bool has_inner_space_ = false;  // whether any token has the space symbol after its beginning
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
