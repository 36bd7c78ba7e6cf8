// SPDX-License-Identifier: MIT
// WordPiece: the text is normalized and cut into words, and in each word the longest token is taken
// again and again.
#include <array>

#include "tokenizer/families/family_encoder.hpp"
#include "tokenizer/unicode/unicode.hpp"
#include "tokenizer/vocabulary/token_keys.hpp"
#include "tokenizer/vocabulary/trie.hpp"

namespace ingot::tokenizer {
namespace {

/// Ideographs, each of which is a word.
constexpr CodePointRun ideographs[] = {{0x3400, 1},  {0x4DC0, 0},  {0x4E00, 1},  {0xA000, 0},
                                       {0xF900, 1},  {0xFB00, 0},  {0x20000, 1}, {0x2A6E0, 0},
                                       {0x2A700, 1}, {0x2B820, 0}, {0x2B920, 1}, {0x2CEB0, 0},
                                       {0x2F800, 1}, {0x2FA20, 0}};

bool is_ideograph(char32_t code_point) noexcept {
  std::uint8_t value = 0;
  for (const CodePointRun& run : ideographs) {
    if (run.first > code_point) break;
    value = run.value;
  }
  return value != 0;
}

class WpmEncoder final : public FamilyEncoder {
 public:
  WpmEncoder(const VocabularyData& data, bool is_lower_cased, bool strips_accents)
      : data_(data),
        is_lower_cased_(is_lower_cased),
        strips_accents_(strips_accents),
        trie_(Trie::of(data.texts, [](std::uint32_t) { return true; })) {
    for (std::size_t i = 0; i < ascii_.size(); ++i) ascii_[i] = step_of(static_cast<char32_t>(i));
  }

  void encode(std::string_view piece, bool, Work& work) const override {
    NormalizedText& normalized = work.normalized;
    normalized.clear();
    std::size_t word = 0;  // its offset in the normalized text
    const auto end_word = [&](std::size_t source) {
      if (word == normalized.text.size()) return;
      encode_word(
          std::string_view(normalized.text).substr(word), word, work,
          [&](std::string_view anew, std::size_t begin) { encode_anew(anew, begin, work); });
      normalized.text += ' ';  // gives the end of the word an origin
      normalized.mark(source);
      word = normalized.text.size();
    };
    for (std::size_t i = 0; i < piece.size();) {
      std::size_t size_bytes = 1;
      const Step step = step_at(piece, i, size_bytes);
      if (step.action == Action::separate || step.action == Action::alone) end_word(i);
      if (step.action == Action::append || step.action == Action::alone) {
        append_utf8(normalized.text, step.character);
        normalized.mark(i);
      }
      i += size_bytes;
      if (step.action == Action::alone) end_word(i);
    }
    end_word(piece.size());
    if (normalized.keeps_origins) normalized.origins.push_back(piece.size());
    work.origins = normalized.origins;
  }

  /// Cuts are possible before white space, and before a character that is a word of its own.
  [[nodiscard]] bool can_cut(std::string_view text, std::size_t place) const override {
    const auto byte = static_cast<unsigned char>(text[place]);
    if (byte >= ascii_.size()) return false;
    const Action action = ascii_[byte].action;
    return action == Action::separate || action == Action::alone;
  }

 private:
  enum class Action : std::uint8_t {
    drop,
    separate,  ///< White space: the word ends.
    alone,     ///< A word of its own.
    append
  };
  struct Step {
    Action action = Action::drop;
    char32_t character = 0;
  };

  [[nodiscard]] Step step_at(std::string_view text, std::size_t i, std::size_t& size_bytes) const {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < ascii_.size()) return ascii_[lead];
    const LenientCharacter character = decode_lenient(text.substr(i));
    size_bytes = character.size_bytes;
    return step_of(character.code_point);
  }

  [[nodiscard]] Step step_of(char32_t code_point) const {
    const bool changes = !is_unchanging(code_point);
    const char32_t base = changes && strips_accents_ ? decomposition_base(code_point) : code_point;
    const CharacterClass character = class_of(base);
    const Group group = character.group();
    if (character.is_white_space()) return {Action::separate, ' '};
    const bool is_dropped = base == 0 || base == replacement_character || group == Group::other ||
                            (strips_accents_ && group == Group::mark);
    if (is_dropped) return {};
    const bool is_alone = group == Group::punctuation || (base < 0x7F && group == Group::symbol) ||
                          is_ideograph(base);
    return {is_alone ? Action::alone : Action::append,
            changes && is_lower_cased_ ? to_lower(base) : base};
  }

  void encode_anew(std::string_view word, std::size_t begin, Work& work) const {
    std::string& spelt = work.replaced.text;
    spelt.assign(space_symbol).append(word);
    const std::size_t first = work.ids.size();
    // Places in the word; the space symbol before it has none.
    const auto place = [&](std::size_t i) {
      return begin + (i < space_symbol.size() ? 0 : i - space_symbol.size());
    };
    for (std::size_t i = 0; i < spelt.size();) {
      const Trie::Match match =
          trie_.longest_prefix(data_.texts, std::string_view(spelt).substr(i));
      if (match.number == Trie::no_text) {
        work.ids.resize(first);
        if (work.keeps_ranges) work.ranges.resize(first);
        return work.put(data_.special(SpecialToken::unk), begin, begin + word.size());
      }
      work.put(static_cast<TokenId>(match.number), place(i), place(i + match.size_bytes));
      i += match.size_bytes;
    }
  }

  const VocabularyData& data_;
  bool is_lower_cased_;
  bool strips_accents_;
  Trie trie_;
  std::array<Step, 128> ascii_ = {};
};

}  // namespace

Result<std::unique_ptr<const FamilyEncoder>> make_wpm(const Model& model,
                                                      const VocabularyData& data) {
  const bool lower = model.get_or<bool>(token_key("normalizer.lowercase"), true);
  const bool strip = model.get_or<bool>(token_key("normalizer.strip_accents"), lower);
  return std::make_unique<const WpmEncoder>(data, lower, strip);
}

}  // namespace ingot::tokenizer
