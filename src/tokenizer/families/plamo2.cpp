// SPDX-License-Identifier: MIT
// PLaMo-2: the way through the text of the lowest cost, found from its end.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "tokenizer/families/family_encoder.hpp"
#include "tokenizer/families/join_filter.hpp"
#include "tokenizer/vocabulary/escapes.hpp"
#include "tokenizer/vocabulary/token_keys.hpp"
#include "tokenizer/vocabulary/trie.hpp"

namespace ingot::tokenizer {
namespace {

constexpr std::int64_t steps_per_score = 10'000;
constexpr std::int64_t unusable_score = -20'000'000;  // in steps; this score and all below
constexpr std::int64_t unknown_cost = 10'000'000;     // cost of a character without a token
/// Larger scores count as this, so that no sum over a text overflows.
constexpr double max_steps = 2'147'483'648.0;

/// The whole number of steps, rounded half away from zero.
std::int64_t steps_of(float score) noexcept {
  const double steps = static_cast<double>(score) * static_cast<double>(steps_per_score);
  return std::llround(std::clamp(steps, -max_steps, max_steps));
}

class Plamo2Encoder final : public FamilyEncoder {
 public:
  Plamo2Encoder(const VocabularyData& data, const std::array<TokenId, 256>& byte_ids)
      : data_(data), filter_(data.texts.size()), byte_ids_(byte_ids) {
    std::vector<std::uint32_t> numbers;
    costs_.resize(data.texts.size());
    for (std::uint32_t id = 0; id < data.texts.size(); ++id) {
      const std::int64_t steps = steps_of(data.scores[id]);
      costs_[id] = -steps;
      if (data.file_kinds[id] == TokenKind::byte || steps <= unusable_score) continue;
      numbers.push_back(id);
      filter_.add_token(data.texts[id]);
    }
    trie_ = Trie(data.texts, numbers);
  }

  void encode(std::string_view piece, bool, Work& work) const override {
    std::string_view text = piece;
    if (!is_clean(piece)) {
      clean(piece, work.normalized);
      text = work.normalized.text;
      work.origins = work.normalized.origins;
    }
    const std::size_t begin = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
    // Costs are whole numbers, so the parts between safe cuts are found apart from one another.
    filter_.split(text.substr(begin), [&](std::string_view word) {
      const auto place = static_cast<std::size_t>(word.data() - text.data());
      encode_word(word, place, work,
                  [&](std::string_view anew, std::size_t at) { encode_anew(anew, at, work); });
    });
  }

  [[nodiscard]] bool can_cut(std::string_view text, std::size_t place) const override {
    if (!filter_.is_cut(text, place, false)) return false;
    // The filter knows characters as they are after cleaning.
    const std::size_t left_bytes = character_before(text, place).size_bytes;
    const std::size_t right_bytes = decode_lenient(text.substr(place)).size_bytes;
    return is_clean(text.substr(place - left_bytes, left_bytes + right_bytes)) &&
           !text.substr(place).starts_with(byte_order_mark);
  }

 private:
  static constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

  /// The best way from a place to the end.
  struct Way {
    std::int64_t cost = 0;
    std::uint32_t size_bytes = 0;  // size of the first step
    TokenId id = no_token;         // id of the first step; no_token: bytes
  };

  void encode_anew(std::string_view word, std::size_t begin, Work& work) const {
    std::vector<Way> ways(word.size() + 1);
    std::size_t at = word.size();
    while (at != 0) {
      do --at;
      while (is_inside_character(word, at));
      ways[at] = best_way(word, at, ways);
    }
    for (std::size_t i = 0; i < word.size(); i += ways[i].size_bytes) {
      const std::size_t end = i + ways[i].size_bytes;
      if (ways[i].id != no_token) {
        work.put(ways[i].id, begin + i, begin + end);
        continue;
      }
      for (std::size_t byte = i; byte < end; ++byte) {
        work.put(byte_ids_[static_cast<unsigned char>(word[byte])], begin + byte, begin + byte + 1);
      }
    }
  }

  [[nodiscard]] Way best_way(std::string_view word, std::size_t at,
                             const std::vector<Way>& ways) const {
    Way best{.cost = std::numeric_limits<std::int64_t>::max()};
    trie_.visit_prefixes(data_.texts, word.substr(at), [&](std::uint32_t id, std::size_t size) {
      if (is_inside_character(word, at + size)) return;
      const std::int64_t cost = ways[at + size].cost + costs_[id];
      // Among equal costs the longest token wins, which comes last.
      if (cost <= best.cost) {
        best = {cost, static_cast<std::uint32_t>(size), static_cast<TokenId>(id)};
      }
    });
    const std::size_t size = character_bytes(word[at]);
    const std::int64_t cost = ways[at + size].cost + unknown_cost;
    if (cost < best.cost) best = {cost, static_cast<std::uint32_t>(size), no_token};
    return best;
  }

  [[nodiscard]] static bool is_inside_character(std::string_view text, std::size_t i) noexcept {
    return i < text.size() && is_continuation(text[i]);
  }

  const VocabularyData& data_;
  JoinFilter filter_;
  Trie trie_;
  std::vector<std::int64_t> costs_;  // costs by id
  std::array<TokenId, 256> byte_ids_;
};

}  // namespace

Result<std::unique_ptr<const FamilyEncoder>> make_plamo2(const Model&, const VocabularyData& data) {
  std::array<TokenId, 256> byte_ids;
  for (std::size_t i = 0; i < byte_ids.size(); ++i) {
    const std::string name = token_of_byte(static_cast<unsigned char>(i));
    byte_ids[i] = data.find(name);
    if (byte_ids[i] == no_token) {
      return fail(Errc::tokenizer_invalid, token_key("tokens"),
                  "this family needs all byte tokens, but there is no " + name);
    }
  }
  return std::make_unique<const Plamo2Encoder>(data, byte_ids);
}

}  // namespace ingot::tokenizer
