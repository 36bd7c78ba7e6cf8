// SPDX-License-Identifier: MIT
// The longest token at each place of a text, of thousands that begin one another.
#include "tokenizer/vocabulary/prefix_table.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <numeric>
#include <string>
#include <vector>

#include "support/random.hpp"
#include "support/vocabulary_sketch.hpp"

namespace ingot::tokenizer {
namespace {

TEST(PrefixTable, FindsWhatAComparisonWithAllTextsFinds) {
  test::Random random;
  for (int round = 0; round < 20; ++round) {
    std::vector<std::string> texts;
    std::string unit;
    for (std::uint64_t i = random.below(4) + 1; i != 0; --i)
      unit += random.below(3) != 0 ? 'a' : 'b';
    for (int i = 0; i < 60; ++i) {
      std::string text;
      for (std::uint64_t size = random.below(300) + 1; text.size() < size;) text += unit;
      if (random.below(2) == 0) text[random.below(text.size())] = 'b';
      if (random.below(8) == 0 && !texts.empty()) text = texts[random.below(texts.size())];
      texts.push_back(text.substr(0, random.below(text.size()) + 1));
    }
    TextList list;
    for (const std::string& text : texts) list.push_back(text);
    std::vector<std::uint32_t> numbers(texts.size());
    std::iota(numbers.begin(), numbers.end(), 0U);
    const PrefixTable table(list, numbers);
    std::string text;
    while (text.size() < 500) text += random.below(9) != 0 ? unit : "b";
    const HashedText hashed = table.hash(text);
    for (std::size_t begin = 0; begin < text.size(); ++begin) {
      const std::size_t end = begin + random.below(text.size() - begin) + 1;
      Trie::Match wanted;
      for (const std::uint32_t number : numbers) {
        const std::string& one = texts[number];
        const bool is_there =
            one.size() <= end - begin && text.compare(begin, one.size(), one) == 0;
        if (is_there && one.size() > wanted.size_bytes) wanted = {number, one.size()};
      }
      const Trie::Match found = table.longest(list, text, hashed, begin, end);
      ASSERT_EQ(found.number, wanted.number) << begin;
      ASSERT_EQ(found.size_bytes, wanted.size_bytes) << begin;
    }
  }
}

/// CPU time to encode 200,000 bytes with so many user-defined tokens that begin one another, twice.
double seconds_with_nested_tokens(std::size_t count) {
  test::VocabularySketch sketch = test::ascii_bpe("gpt-2");
  for (std::size_t size = 2; size <= count; ++size) {
    sketch.add(std::string(size, 'a'), 0.0F, TokenKind::user_defined);
    sketch.add(std::string(size, 'b') + "!", 0.0F, TokenKind::user_defined);
  }
  const Tokenizer tokenizer = sketch.make().value();
  const std::string text = std::string(80'000, 'b') + std::string(119'999, 'a') + 'c';
  const std::clock_t start = std::clock();
  const auto ids = tokenizer.encode(text);
  const std::clock_t end = std::clock();
  EXPECT_EQ(tokenizer.piece(ids.value().end()[-2]).size(), 119'999 % count);
  return static_cast<double>(end - start) / CLOCKS_PER_SEC;
}

/// A comparison with each of 1,501 tokens took 8 us for each byte, and a text may have a million.
TEST(PrefixTable, MakesNestedTokensCheap) {
  EXPECT_LT(seconds_with_nested_tokens(1501), 10 * seconds_with_nested_tokens(19));
}

}  // namespace
}  // namespace ingot::tokenizer
