// SPDX-License-Identifier: MIT
#include "commands/sample/sample_vocabulary.hpp"

#include <fmt/core.h>

#include <string_view>
#include <utility>

namespace ingot::cli {
namespace {

constexpr std::string_view consonants = "tnsrhldcmfpgwybvkjxz";
constexpr std::string_view vowels = "eaoiu";
constexpr std::uint64_t syllable_count = consonants.size() * vowels.size();
/// What a single character can be, the frequent ones first.
constexpr std::string_view characters =
    "etaoinshrdlcumwfgypbvkjxqz0123456789.,-'\"?!:;()/ETAOINSHRDLCUMWFGYPBVKJXQZ"
    "#$%&*+<=>@[\\]^_`{|}~";

constexpr std::string_view sentencepiece_space = "\u2581";
constexpr std::string_view byte_level_space = "\u0120";

constexpr std::uint32_t byte_count = 256;
constexpr std::uint32_t llama_special_count = 3;  // <unk> <s> </s>
constexpr std::uint32_t qwen2_special_count = 3;  // <|endoftext|> <|im_start|> <|im_end|>

std::string syllable(std::uint64_t number) {
  return {consonants[number / vowels.size()], vowels[number % vowels.size()]};
}

/// Makes words of syllables, short ones first, each without and with a space before it. Every word
/// is two earlier ones side by side, as a tokenizer that merges pairs needs it. Syllables can be
/// read back in one way only, so no word comes twice.
class WordMaker {
 public:
  explicit WordMaker(std::string_view space) : space_(space) {}

  struct Word {
    std::string left;
    std::string right;
  };

  Word next() {
    const std::string last = syllable(number_ % syllable_count);
    Word word;
    if (length_ == 1) {
      word = has_space_ ? Word{space_, last} : Word{last.substr(0, 1), last.substr(1)};
    } else {
      word = {(has_space_ ? space_ : "") + leading_syllables(), last};
    }
    advance();
    return word;
  }

 private:
  [[nodiscard]] std::string leading_syllables() const {
    std::string text;
    std::uint64_t rest = number_ / syllable_count;
    for (std::uint32_t i = 1; i < length_; ++i) {
      text.insert(0, syllable(rest % syllable_count));
      rest /= syllable_count;
    }
    return text;
  }

  void advance() {
    has_space_ = !has_space_;
    if (has_space_ || ++number_ < words_of_length_) return;
    number_ = 0;
    ++length_;
    words_of_length_ *= syllable_count;
  }

  std::string space_;
  std::uint32_t length_ = 1;  // syllables
  std::uint64_t number_ = 0;
  std::uint64_t words_of_length_ = syllable_count;
  bool has_space_ = false;
};

class VocabularyBuilder {
 public:
  explicit VocabularyBuilder(std::uint32_t size) : size_(size) {
    vocabulary_.tokens.reserve(size);
    vocabulary_.kinds.reserve(size);
  }

  [[nodiscard]] std::uint32_t count() const {
    return static_cast<std::uint32_t>(vocabulary_.tokens.size());
  }
  std::uint32_t add(std::string token, TokenKind kind) {
    vocabulary_.tokens.push_back(std::move(token));
    vocabulary_.kinds.push_back(static_cast<std::int32_t>(kind));
    return count() - 1;
  }

  SampleVocabulary make_sentencepiece() {
    add("<unk>", TokenKind::unknown);
    vocabulary_.begin_id = add("<s>", TokenKind::control);
    vocabulary_.end_id = add("</s>", TokenKind::control);
    for (std::uint32_t byte = 0; byte < byte_count; ++byte) {
      add(fmt::format("<0x{:02X}>", byte), TokenKind::byte);
    }
    vocabulary_.scores.assign(count(), 0.0f);
    const std::uint32_t first_piece = count();
    if (count() < size_) add(std::string(sentencepiece_space), TokenKind::normal);
    for (const char character : characters) {
      if (count() < size_) add(std::string(1, character), TokenKind::normal);
    }
    WordMaker words{sentencepiece_space};
    while (count() < size_) {
      const WordMaker::Word word = words.next();
      add(word.left + word.right, TokenKind::normal);
    }
    const auto piece_count = static_cast<std::int32_t>(count() - first_piece);
    for (std::int32_t rank = 0; rank < piece_count; ++rank) {
      // Negated as an integer: g++ 12 makes a negative zero of 0.0f - float(0).
      vocabulary_.scores.push_back(static_cast<float>(-rank));
    }
    return std::move(vocabulary_);
  }

  SampleVocabulary make_byte_level() {
    add_byte_characters();
    WordMaker words{byte_level_space};
    while (count() + qwen2_special_count < size_) {
      const WordMaker::Word word = words.next();
      vocabulary_.merges.push_back(word.left + " " + word.right);
      add(word.left + word.right, TokenKind::normal);
    }
    vocabulary_.begin_id = add("<|endoftext|>", TokenKind::control);
    vocabulary_.padding_id = vocabulary_.begin_id;
    add("<|im_start|>", TokenKind::control);
    vocabulary_.end_id = add("<|im_end|>", TokenKind::control);
    return std::move(vocabulary_);
  }

 private:
  /// Byte-level tokenizers write each byte as a printable character: itself where it is one in
  /// Latin-1, else one from U+0100 on. The printable ones come first.
  void add_byte_characters() {
    std::vector<std::string> others;
    for (std::uint32_t byte = 0; byte < byte_count; ++byte) {
      const bool is_printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte != 0xad);
      if (is_printable) {
        add(utf8(byte), TokenKind::normal);
      } else {
        others.push_back(utf8(byte_count + static_cast<std::uint32_t>(others.size())));
      }
    }
    for (std::string& other : others) add(std::move(other), TokenKind::normal);
  }

  /// A character below U+0800.
  static std::string utf8(std::uint32_t code) {
    if (code < 0x80) return {static_cast<char>(code)};
    return {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
  }

  std::uint32_t size_;
  SampleVocabulary vocabulary_;
};

}  // namespace

std::uint32_t least_vocabulary(SampleArch arch) noexcept {
  return byte_count + (arch == SampleArch::llama ? llama_special_count : qwen2_special_count);
}

SampleVocabulary make_vocabulary(SampleArch arch, std::uint32_t size) {
  VocabularyBuilder builder(size);
  return arch == SampleArch::llama ? builder.make_sentencepiece() : builder.make_byte_level();
}

}  // namespace ingot::cli
