// SPDX-License-Identifier: MIT
// The member `model` of tokenizer.json. Its lists are long, so they go straight into the text.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <unordered_set>

#include "huggingface/folder/json_values.hpp"
#include "huggingface/import/tokenizer/tokenizer_files.hpp"
#include "huggingface/tokenizer_json/tokenizer_document.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::huggingface {
namespace {

/// Longer than any token that merges make; a hostile one would take quadratic time.
constexpr std::size_t max_merged_bytes = 512;

/// Characters of the longest word that is cut into tokens: llama.cpp has no limit. The usual 100
/// would make one unknown token of longer words.
constexpr std::uint32_t max_word_characters = 1'000'000'000;

/// The distance by which tokens that the lattice must not pick score below all others.
constexpr double hidden_penalty = 100.0;

bool is_inside_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// Whether a token is one character again and again: it comes out the same in whatever order.
bool is_run(std::string_view text) {
  std::size_t size = 1;
  while (size < text.size() && is_inside_character(text[size])) ++size;
  return text.substr(size) == text.substr(0, text.size() - size);
}

bool is_in_lattice(TokenKind kind) {
  return kind == TokenKind::normal || kind == TokenKind::user_defined || kind == TokenKind::unused;
}

/// Two tokens whose texts together are a token.
struct Merge {
  float score = 0;
  std::uint32_t product = 0;
  std::uint32_t left = 0;
  std::uint32_t right = 0;
};

class ModelText {
 public:
  ModelText(const TokenizerDocument& document, std::string& text,
            std::vector<std::string>& warnings)
      : document_(document),
        text_(text),
        warnings_(warnings),
        facts_(facts_of_pre_tokenizer(document.vocabulary.pre_tokenizer())
                   .value_or(PreTokenizerFacts{})) {}

  void append() {
    switch (document_.vocabulary.family()) {
      case TokenizerFamily::bpe:
        return append_bpe();
      case TokenizerFamily::wpm:
        return append_word_pieces();
      case TokenizerFamily::ugm:
        return append_unigrams();
      default:
        return append_scored();
    }
  }

 private:
  void append_bpe() {
    begin_bpe(nullptr, false, facts_.has_plain_text, facts_.ignores_merges);
    append_merges();
    const std::size_t missing = document_.vocabulary.missing_bytes().size();
    if (missing != 0) {
      warnings_.push_back("no token stands for " + std::to_string(missing) +
                          " bytes; ids of text that holds them can differ");
    }
  }

  /// SentencePiece: its scores become merges.
  void append_scored() {
    const auto unknown = static_cast<std::size_t>(document_.vocabulary.special(SpecialToken::unk));
    begin_bpe(unknown < document_.tokens.size()
                  ? nlohmann::ordered_json(document_.tokens[unknown].text)
                  : nullptr,
              true, true, false);
    const std::vector<Merge> merges = make_merges();
    warn_of_equal_scores(merges);
    for (const Merge& merge : merges) {
      append_merge(document_.tokens[merge.left].text, document_.tokens[merge.right].text);
    }
    text_ += "]}";
  }

  void append_word_pieces() {
    const Vocabulary& vocabulary = document_.vocabulary;
    text_ += R"({"type": "WordPiece", "unk_token": )" +
             json_text(vocabulary.text(vocabulary.special(SpecialToken::unk))) +
             R"(, "continuing_subword_prefix": "##", "max_input_chars_per_word": )" +
             std::to_string(max_word_characters) + ", ";
    append_vocabulary();
    text_ += "}";
    warnings_.emplace_back(
        "ids differ where llama.cpp differs from the original: Hangul and vowel signs without "
        "accents, U+0085, U+0130");
  }

  void append_unigrams() {
    const Vocabulary& vocabulary = document_.vocabulary;
    double lowest = 0.0;
    for (TokenId id = 0; vocabulary.contains(id); ++id) {
      if (!is_in_lattice(vocabulary.kind_in_file(id))) continue;
      lowest = std::min(lowest, static_cast<double>(vocabulary.score(id)));
    }
    text_ += R"({"type": "Unigram", "unk_id": )" +
             std::to_string(vocabulary.special(SpecialToken::unk)) + ", \"vocab\": [";
    for (TokenId id = 0; vocabulary.contains(id); ++id) {
      const TokenKind kind = vocabulary.kind_in_file(id);
      const double score = kind == TokenKind::user_defined ? 0.0
                           : is_in_lattice(kind) ? static_cast<double>(vocabulary.score(id))
                                                 : lowest - hidden_penalty;
      item() += "[" + json_text(vocabulary.text(id)) + ", " + json_text(score) + "]";
    }
    text_ += "], \"byte_fallback\": false}";
  }

  void begin_bpe(const nlohmann::ordered_json& unknown, bool fuses_unknown, bool has_byte_fallback,
                 bool ignores_merges) {
    std::string members = json_text({{"type", "BPE"},
                                     {"dropout", nullptr},
                                     {"unk_token", unknown},
                                     {"continuing_subword_prefix", nullptr},
                                     {"end_of_word_suffix", nullptr},
                                     {"fuse_unk", fuses_unknown},
                                     {"byte_fallback", has_byte_fallback},
                                     {"ignore_merges", ignores_merges}});
    members.back() = ',';
    text_ += members + " ";
    append_vocabulary();
    text_ += ", \"merges\": [";
  }

  /// The text, where the next element of the list or object that has begun goes.
  std::string& item() {
    const bool is_first = text_.back() == '[' || text_.back() == '{';
    return text_ += is_first ? "\n" : ",\n";
  }

  bool is_in_vocabulary(std::uint32_t id) const {
    const auto found = document_.ids.find(document_.tokens[id].text);
    return found != document_.ids.end() && found->second == id;
  }

  /// A token as it was spelt before it came into a GGUF file.
  std::string original_spelling(const DocumentToken& token) const {
    if (document_.vocabulary.family() != TokenizerFamily::wpm || is_special(token.kind)) {
      return std::string(token.text);
    }
    return token.text.starts_with(space_letter)
               ? std::string(token.text.substr(space_letter.size()))
               : "##" + std::string(token.text);
  }

  void append_vocabulary() {
    text_ += "\"vocab\": {";
    for (std::uint32_t id = 0; id < document_.tokens.size(); ++id) {
      if (!is_in_vocabulary(id)) continue;
      item() += json_text(original_spelling(document_.tokens[id])) + ": " + std::to_string(id);
    }
    text_ += "}";
  }

  void append_merge(std::string_view left, std::string_view right) {
    item() += "[" + json_text(left) + ", " + json_text(right) + "]";
  }

  /// The merges that the library takes: both sides and their product must be tokens, and of equal
  /// pairs it would rank the last one.
  void append_merges() {
    std::size_t dropped = 0;
    std::unordered_set<std::string> written;
    const auto add = [&](std::string_view merge) {
      const std::size_t space = merge.find(' ', 1);
      if (space == merge.npos || space + 1 == merge.size()) return;
      const std::string left(merge.substr(0, space));
      const std::string right(merge.substr(space + 1));
      const bool is_known = document_.ids.contains(left) && document_.ids.contains(right) &&
                            document_.ids.contains(left + right);
      if (!is_known) {
        ++dropped;
      } else if (written.emplace(merge).second) {
        append_merge(left, right);
      }
    };
    if (const Value* const merges = document_.model.find(keys::tokenizer_ggml_merges)) {
      for (const Value& merge : merges->as_array()) {
        add(merge.get<std::string_view>().value_or(""));
      }
    }
    // A run of newlines that is a token is that token: here, because it is merged from the left.
    for (std::string run = "\n"; facts_.joins_newlines && document_.ids.contains(run + "\n");
         run += "\n") {
      add(run + " \n");
    }
    text_ += "]}";
    if (dropped != 0) {
      warnings_.push_back(std::to_string(dropped) +
                          " merges of texts that are no tokens are left out; ids can differ");
    }
  }

  /// The merges that scores stand for: every two tokens that are a token, the highest score first.
  std::vector<Merge> make_merges() const {
    std::vector<Merge> merges;
    for (std::uint32_t id = 0; id < document_.tokens.size(); ++id) {
      const DocumentToken& token = document_.tokens[id];
      const bool is_made = !is_special(token.kind) && token.kind != TokenKind::byte &&
                           !std::isnan(token.score);  // no order has a place for such a score
      if (!is_made || token.text.size() > max_merged_bytes || !is_in_vocabulary(id)) continue;
      for (std::size_t i = 1; i < token.text.size(); ++i) {
        if (is_inside_character(token.text[i])) continue;
        const auto left = document_.ids.find(token.text.substr(0, i));
        const auto right = document_.ids.find(token.text.substr(i));
        if (left == document_.ids.end() || right == document_.ids.end()) continue;
        merges.push_back({token.score, id, left->second, right->second});
      }
    }
    std::ranges::sort(merges, {}, [](const Merge& merge) {
      return std::tuple(-merge.score, merge.product, merge.left, merge.right);
    });
    return merges;
  }

  void warn_of_equal_scores(const std::vector<Merge>& merges) {
    const auto is_run_of_id = [&](std::uint32_t id) { return is_run(document_.tokens[id].text); };
    const auto same = [&](const Merge& a, const Merge& b) {
      return a.score == b.score && a.product != b.product &&
             !(is_run_of_id(a.product) && is_run_of_id(b.product));
    };
    if (std::ranges::adjacent_find(merges, same) == merges.end()) return;
    warnings_.emplace_back(
        "tokens have equal scores: of those, llama.cpp merges the leftmost pair first, the library "
        "the token of the lower id; ids can differ");
  }

  const TokenizerDocument& document_;
  std::string& text_;
  std::vector<std::string>& warnings_;
  PreTokenizerFacts facts_;
};

}  // namespace

void append_model(const TokenizerDocument& document, std::string& text,
                  std::vector<std::string>& warnings) {
  ModelText(document, text, warnings).append();
}

}  // namespace ingot::huggingface
