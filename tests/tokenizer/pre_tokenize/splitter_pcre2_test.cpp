// SPDX-License-Identifier: MIT
// A second opinion on every expression list: PCRE2 (Debian's libpcre2-dev) cuts texts alike. Built
// only where the library is.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <gtest/gtest.h>
#include <pcre2.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/tokenizer.hpp"
#include "support/random.hpp"
#include "tokenizer/pre_tokenize/pre_tokenizer.hpp"
#include "tokenizer/pre_tokenize/splitter.hpp"
#include "tokenizer/unicode/lenient_utf8.hpp"

namespace ingot::tokenizer {
namespace {

using Pieces = std::vector<std::string_view>;

/// One expression as PCRE2 compiles it.
class Expression {
 public:
  explicit Expression(std::string_view text) {
    int error = 0;
    PCRE2_SIZE offset = 0;
    code_.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                              PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr));
    EXPECT_NE(code_, nullptr) << text << ": error " << error << " at " << offset;
    match_.reset(pcre2_match_data_create(1, nullptr));
  }

  /// The matches and the gaps between them.
  void split(std::string_view text, Pieces& pieces) const {
    std::size_t gap = 0;
    const auto take = [&](std::size_t begin, std::size_t end) {
      if (begin != end) pieces.push_back(text.substr(begin, end - begin));
    };
    for (std::size_t next = 0; next < text.size();) {
      const int count = pcre2_match(code_.get(), reinterpret_cast<PCRE2_SPTR>(text.data()),
                                    text.size(), next, 0, match_.get(), nullptr);
      if (count < 0) {
        EXPECT_EQ(count, PCRE2_ERROR_NOMATCH);
        break;
      }
      const PCRE2_SIZE* place = pcre2_get_ovector_pointer(match_.get());
      take(gap, place[0]);
      take(place[0], place[1]);
      gap = next = place[1];
      // A match of nothing is a cut.
      if (place[0] == place[1] && next < text.size()) next += character_bytes(text[next]);
    }
    take(gap, text.size());
  }

 private:
  template <auto release>
  struct Release {
    template <class Object>
    void operator()(Object* object) const {
      release(object);
    }
  };
  std::unique_ptr<pcre2_code, Release<pcre2_code_free>> code_;
  std::unique_ptr<pcre2_match_data, Release<pcre2_match_data_free>> match_;
};

/// The pieces of a list of expressions, each applied to what the one before has left.
Pieces split_by_pcre2(const std::vector<Expression>& expressions, std::string_view text) {
  Pieces pieces = {text};
  for (const Expression& expression : expressions) {
    Pieces next;
    for (const std::string_view piece : pieces) expression.split(piece, next);
    pieces = std::move(next);
  }
  return pieces;
}

/// Characters that the expressions tell apart, of scripts that Unicode 14 knows as 15.1 does.
std::string random_text(test::Random& random) {
  static const std::vector<std::string> characters = {
      "a",
      "B",
      "s",
      "t",
      "l",
      "z",
      "Q",
      "0",
      "7",
      "9",
      " ",
      " ",
      "\n",
      "\r",
      "\t",
      "'",
      ".",
      ",",
      "!",
      "-",
      "_",
      "~",
      "$",
      "/",
      "(",
      "\x01",
      "\xC2\xA0",          // no-break space
      "\xC3\xA9",          // e acute
      "\xC4\xB0",          // capital i with a dot
      "\xCC\x81",          // combining acute
      "\xD0\x96",          // Cyrillic
      "\xD9\xA3",          // an Arabic digit
      "\xE0\xA4\x95",      // Devanagari
      "\xE0\xA4\xBF",      // a vowel sign
      "\xE1\x9A\x80",      // Ogham space
      "\xE2\x80\x99",      // typographic apostrophe
      "\xE2\x82\xAC",      // euro sign
      "\xE2\x85\xA7",      // a Roman numeral
      "\xE3\x80\x80",      // ideographic space
      "\xE3\x81\x82",      // Hiragana
      "\xE4\xB8\xAD",      // Han
      "\xEA\xB0\x80",      // Hangul
      "\xEF\xBC\x81",      // wide exclamation mark
      "\xF0\x9F\x98\x80",  // emoji
      "\xF0\x90\x90\x80",  // Deseret capital
  };
  std::string text;
  const std::size_t count = random.below(24);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& character = characters[random.below(characters.size())];
    const std::size_t repeats = random.below(4) == 0 ? 1 + random.below(4) : 1;
    for (std::size_t k = 0; k < repeats; ++k) text += character;
  }
  return text;
}

TEST(SplitterPcre2, CutsRandomTextsAlike) {
  std::vector<const std::string_view*> done;
  for (const std::string_view name : known_pre_tokenizers()) {
    const PreTokenizer* pre = find_pre_tokenizer(name);
    ASSERT_NE(pre, nullptr) << name;
    if (std::find(done.begin(), done.end(), pre->expressions.data()) != done.end()) continue;
    done.push_back(pre->expressions.data());
    SCOPED_TRACE(std::string(name));
    const std::vector<Expression> expressions(pre->expressions.begin(), pre->expressions.end());
    const auto splitter = Splitter::of(*pre);
    ASSERT_TRUE(splitter.has_value());
    test::Random random;
    for (int round = 0; round < 500; ++round) {
      const std::string text = random_text(random);
      if (text.empty()) continue;
      Pieces pieces;
      splitter->split(text, [&](std::string_view piece) { pieces.push_back(piece); });
      ASSERT_EQ(pieces, split_by_pcre2(expressions, text)) << text;
    }
  }
  EXPECT_GE(done.size(), 31U);
}

}  // namespace
}  // namespace ingot::tokenizer
