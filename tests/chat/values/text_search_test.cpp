// SPDX-License-Identifier: MIT
#include "chat/values/text_search.hpp"

#include <gtest/gtest.h>

#include <string>

namespace ingot::chat {
namespace {

/// Searches agree with those of the standard library, which take longer.
TEST(TextSearch, FindsWhatTheStandardLibraryFinds) {
  std::uint64_t state = 1;
  const auto next = [&](std::size_t bytes) {
    std::string text;
    for (; text.size() < bytes; state = state * 6364136223846793005 + 1442695040888963407) {
      text += (state >> 40) % 8 == 0 ? 'b' : 'a';
    }
    return text;
  };
  for (std::size_t i = 0; i < 2000; ++i) {
    const std::string text = next(i % 300);
    const std::string wanted =
        i % 3 == 0 ? next(i % 40) : text.substr(text.size() / 3, 17 + i % 20);
    EXPECT_EQ(find_text(text, wanted, i % 5), text.find(wanted, i % 5)) << text << " " << wanted;
    EXPECT_EQ(find_last_text(text, wanted), text.rfind(wanted)) << text << " " << wanted;
  }
}

TEST(TextSearch, FindsTheEmptyTextEverywhere) {
  EXPECT_EQ(find_text("abc", ""), 0u);
  EXPECT_EQ(find_text("abc", "", 3), 3u);
  EXPECT_EQ(find_last_text("abc", ""), 3u);
}

TEST(TextSearch, CountsWithoutOverlaps) {
  EXPECT_EQ(count_texts("aaaaa", "aa"), 2u);
  EXPECT_EQ(count_texts("", "a"), 0u);
  EXPECT_EQ(count_texts("ababab", "ab"), 3u);
}

}  // namespace
}  // namespace ingot::chat
