// SPDX-License-Identifier: MIT
// The parts that tokenizers are made of.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "support/expect_error.hpp"
#include "support/random.hpp"
#include "tokenizer/families/charsmap.hpp"
#include "tokenizer/families/join_filter.hpp"
#include "tokenizer/families/merge.hpp"
#include "tokenizer/families/word_cache.hpp"
#include "tokenizer/unicode/unicode.hpp"
#include "tokenizer/vocabulary/byte_alphabet.hpp"
#include "tokenizer/vocabulary/escapes.hpp"
#include "tokenizer/vocabulary/text_map.hpp"
#include "tokenizer/vocabulary/trie.hpp"

namespace ingot::tokenizer {
namespace {

TEST(Unicode, GroupsSpaceLowerCaseAndBases) {
  EXPECT_EQ(class_of('a').group(), Group::letter);
  EXPECT_EQ(class_of(0x0301).group(), Group::mark);
  EXPECT_EQ(class_of(0x0661).group(), Group::number);
  EXPECT_EQ(class_of(0x20AC).group(), Group::symbol);
  EXPECT_EQ(class_of(0x2EBF0).group(), Group::letter);  // of Unicode 15.1
  EXPECT_EQ(class_of(0x0378).group(), Group::unassigned);
  EXPECT_EQ(class_of(0xE000).group(), Group::other);
  EXPECT_EQ(class_of(0x10FFFF).group(), Group::unassigned);
  int spaces = 0;
  for (char32_t c = 0; c < code_point_count; ++c) spaces += class_of(c).is_white_space() ? 1 : 0;
  EXPECT_EQ(spaces, 25);
  EXPECT_EQ(to_lower('A'), U'a');
  EXPECT_EQ(to_lower('a'), U'a');
  EXPECT_EQ(to_lower(0x0130), U'i');
  EXPECT_EQ(to_lower(0x0101), 0x0101U);  // between two that have a lower case
  EXPECT_EQ(decomposition_base(0x1E69), U's');
  EXPECT_EQ(decomposition_base(0xAC01), 0x1100U);
  EXPECT_EQ(decomposition_base('a'), U'a');
}

TEST(Unicode, UnchangingCodePointsHaveNoOtherCaseAndNoBase) {
  int unchanging = 0;
  for (char32_t c = 0; c < code_point_count; ++c) {
    if (!is_unchanging(c)) continue;
    ++unchanging;
    ASSERT_EQ(to_lower(c), c);
    ASSERT_EQ(decomposition_base(c), c);
  }
  EXPECT_GT(unchanging, 1'000'000);
}

TEST(LenientUtf8, CleanTextIsWhatCleaningMakes) {
  test::Random random;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    const std::size_t size = random.below(12);
    for (std::size_t i = 0; i < size; ++i) {
      constexpr unsigned char bytes[] = {0x41, 0x80, 0xA9, 0xBF, 0xC0, 0xC3, 0xE0,
                                         0xED, 0xEF, 0xF0, 0xF4, 0xF7, 0xFF};
      text += static_cast<char>(bytes[random.below(sizeof bytes)]);
    }
    NormalizedText cleaned;
    cleaned.keeps_origins = true;
    clean(text, cleaned);
    EXPECT_EQ(is_clean(text), cleaned.text == text);
    EXPECT_TRUE(is_clean(cleaned.text));
    EXPECT_EQ(cleaned.origins.size(), cleaned.text.size() + 1);
  }
}

TEST(ByteAlphabet, EveryByteHasACharacterOfItsOwn) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string token = token_of_bytes(std::string(1, static_cast<char>(byte)));
    const LenientCharacter character = decode_lenient(token);
    EXPECT_EQ(character.size_bytes, token.size());
    EXPECT_EQ(byte_of(character.code_point), byte);
  }
  EXPECT_EQ(token_of_bytes(" \n"), "\xC4\xA0\xC4\x8A");
  EXPECT_EQ(byte_of(0x144), -1);
}

TEST(Escapes, BytesAndRwkvTexts) {
  EXPECT_EQ(byte_of_token("<0x4a>"), 0x4A);
  EXPECT_EQ(byte_of_token("<0x4g>"), -1);
  EXPECT_EQ(byte_of_token("<0x4>"), -1);
  EXPECT_EQ(token_of_byte(0xAF), "<0xAF>");
  EXPECT_EQ(unescape("a\\n\\t\\r\\\\\\'\\x41"), "a\n\t\r\\'A");
  EXPECT_EQ(unescape("\\"), "\\");
  EXPECT_EQ(unescape("\\x4"), "x4");
}

TEST(TextMap, ATextHasOneKeyWhateverMemoryFollows) {
  const std::string letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  const TextMap map;
  for (std::size_t size = 0; size <= ShortText::max_bytes + 1; ++size) {
    const std::string_view text = std::string_view(letters).substr(1, size);
    const TextKey followed = map.key_of(text, letters.data() + letters.size());
    const TextKey last = map.key_of(text);
    EXPECT_EQ(followed.short_text, last.short_text) << size;
    EXPECT_EQ(followed.hash, last.hash) << size;
  }
}

TEST(TextMap, FindsTextsOfEverySize) {
  TextList list;
  TextMap map;
  for (std::uint32_t number = 0; number < 40; ++number) {
    list.push_back(std::string(number, 'a'));
    map.insert(list, number, map.key_of(list[number], list.memory_end()));
  }
  for (std::uint32_t number = 0; number < 40; ++number) {
    EXPECT_EQ(map.find(list, std::string(number, 'a')), number);
    EXPECT_EQ(map.find(list, std::string(number, 'a') + "b"), TextMap::not_found);
  }
  EXPECT_EQ(map.size(), 40U);
}

TEST(Trie, FindsEveryPrefix) {
  test::Random random;
  TextList list;
  std::map<std::string, std::uint32_t> known;
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < 400; ++i) {
    std::string text;
    const std::size_t size = random.below(9);
    for (std::size_t k = 0; k < size; ++k) text += static_cast<char>('a' + random.below(3));
    list.push_back(text);
    numbers.push_back(i);
    if (!text.empty()) known.try_emplace(text, i);
  }
  const Trie trie(list, numbers);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    const std::size_t size = random.below(12);
    for (std::size_t k = 0; k < size; ++k) text += static_cast<char>('a' + random.below(3));
    std::vector<std::uint32_t> expected;
    for (std::size_t end = 1; end <= text.size(); ++end) {
      const auto place = known.find(text.substr(0, end));
      if (place != known.end()) expected.push_back(place->second);
    }
    std::vector<std::uint32_t> found;
    trie.visit_prefixes(list, text, [&](std::uint32_t number, std::size_t bytes) {
      EXPECT_EQ(list[number], text.substr(0, bytes));
      found.push_back(number);
    });
    EXPECT_EQ(found, expected) << text;
  }
}

TEST(Trie, LongTextsWithMuchInCommonNeedFewNodes) {
  TextList list;
  list.push_back(std::string(1'000'000, 'a') + "b");
  list.push_back(std::string(1'000'000, 'a') + "c");
  const Trie trie(list, {0, 1});
  EXPECT_EQ(trie.longest_prefix(list, std::string(1'000'000, 'a') + "cd").number, 1U);
  EXPECT_EQ(trie.longest_prefix(list, std::string(1'000'000, 'a')).number, Trie::no_text);
}

/// Symbols are numbers below 8; a pair joins by a table.
struct TableRules {
  std::vector<Join> joins = std::vector<Join>(64);
  [[nodiscard]] Join join(const MergeSymbol& left, const MergeSymbol& right, std::uint32_t) const {
    return joins[left.id * 8 + right.id];
  }
  [[nodiscard]] Join join_first(const MergeSymbol& left, const MergeSymbol& right,
                                std::uint32_t end) const {
    return join(left, right, end);
  }
};

TEST(Merge, TheHeapDoesWhatTryingAllPairsDoes) {
  test::Random random;
  for (int round = 0; round < 3000; ++round) {
    TableRules rules;
    for (Join& join : rules.joins) {
      // Equal ranks, and products that join again with a lower rank.
      if (random.below(3) == 0)
        join = {static_cast<std::uint32_t>(random.below(4)),
                static_cast<std::uint32_t>(random.below(8))};
    }
    MergeBuffers buffers;
    const auto count = static_cast<std::uint32_t>(random.below(short_merge_symbols));
    for (std::uint32_t i = 0; i < count; ++i) {
      buffers.symbols.push_back({i, static_cast<std::uint32_t>(random.below(8))});
    }
    buffers.symbols.push_back({count, 0});
    std::vector<MergeSymbol> expected = buffers.symbols;
    ShortMerge<TableRules>(rules, expected).run();
    LongMerge<TableRules>(rules, buffers).run();
    ASSERT_EQ(buffers.symbols.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(buffers.symbols[i].begin, expected[i].begin);
      EXPECT_EQ(buffers.symbols[i].id, expected[i].id);
    }
  }
}

TEST(JoinFilter, CutsOnlyWhereNoTokenLiesAcross) {
  JoinFilter filter(8);
  filter.add_token("ab\xC3\xA9");
  std::string parts;
  filter.split("abab\xC3\xA9\xC3\xA9",
               [&](std::string_view part) { parts.append(part).append("|"); });
  EXPECT_TRUE(filter.may_join("a", "b"));
  EXPECT_TRUE(filter.may_join("b", "\xC3\xA9"));
  EXPECT_EQ(parts, "ab|ab\xC3\xA9|\xC3\xA9|");
}

TEST(WordCache, FindsWhatWasPutIn) {
  WordCache cache(std::size_t{1} << 20);
  ASSERT_TRUE(cache.is_on());
  EXPECT_FALSE(WordCache(100).is_on());
  // Words of all sizes, equal ones but for a byte.
  for (std::size_t size = 1; size <= WordCache::max_word_bytes; ++size) {
    for (std::size_t place = 0; place < size; ++place) {
      std::string word(size, 'a');
      word[place] = 'b';
      std::vector<TokenId> ids;
      EXPECT_FALSE(cache.append(cache.key(word), ids)) << word;
      const std::vector<TokenId> stored(place % 5, static_cast<TokenId>(size));
      cache.insert(cache.key(word), stored);
      EXPECT_TRUE(cache.append(cache.key(word), ids));
      EXPECT_EQ(ids, stored);
    }
  }
}

TEST(WordCache, APartOfAWordIsNotTheWord) {
  WordCache cache(std::size_t{1} << 20);
  for (const std::size_t size : {std::size_t{3}, ShortText::max_bytes, std::size_t{40}}) {
    const std::string word(size, 'a');
    const TokenId id = 7;
    cache.insert(cache.key(word, WordCache::Kind::word), std::span(&id, 1));
    std::vector<TokenId> ids;
    EXPECT_FALSE(cache.append(cache.key(word, WordCache::Kind::part), ids)) << word;
    EXPECT_TRUE(cache.append(cache.key(word, WordCache::Kind::word), ids)) << word;
  }
}

/// The bytes of a charsmap of four units, whose one replacement is "xyz".
std::string charsmap_of(const std::array<std::uint32_t, 4>& units) {
  std::string bytes("\x10\0\0\0", 4);
  for (const std::uint32_t unit : units) {
    for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(unit >> shift);
  }
  return bytes + std::string("xyz\0", 4);
}

TEST(Charsmap, CharactersThatStayBeforeAscii) {
  // Byte 1 leads from the root at 0 to unit 1, which has no value, byte 2 from there to unit 3.
  const auto map = Charsmap::make(charsmap_of({0, 1, 0, (1U << 10) | 0x100 | 2}));
  ASSERT_TRUE(map.has_value()) << map.error().message();
  EXPECT_EQ(map->find("\x01\x02").replacement, "xyz");
  EXPECT_EQ(map->find("\x01\x03").size_bytes, 0U);
  EXPECT_FALSE(map->leaves_before_ascii('\x01'));
  EXPECT_TRUE(map->leaves_before_ascii('\x02'));
}

TEST(Charsmap, OneTextAndItsReplacement) {
  // Unit 0 is the root with offset 0x60; 'a' leads to 0x60 ^ 'a' = 1, its value lies at 1 ^ 2 = 3.
  const std::string bytes = charsmap_of({0x60U << 10, (2U << 10) | 0x100 | 'a', 0, 0});
  const auto map = Charsmap::make(bytes);
  ASSERT_TRUE(map.has_value()) << map.error().message();
  EXPECT_EQ(map->find("ab").replacement, "xyz");
  EXPECT_EQ(map->find("ab").size_bytes, 1U);
  EXPECT_EQ(map->find("b").size_bytes, 0U);
  EXPECT_FALSE(map->leaves_before_ascii('a'));
  // Cut off anywhere it is refused or finds nothing.
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    const auto cut = Charsmap::make(std::string_view(bytes).substr(0, size));
    if (cut) {
      EXPECT_EQ(cut->find("a").size_bytes, 0U);
    } else {
      EXPECT_EQ(cut.error().code, Errc::tokenizer_invalid);
    }
  }
}

}  // namespace
}  // namespace ingot::tokenizer
