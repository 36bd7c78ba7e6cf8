// SPDX-License-Identifier: MIT
#include "remote/http/answer_headers.hpp"

#include <gmock/gmock.h>

#include <string>

namespace ingot::remote::test {
namespace {

TEST(AnswerHeaders, AreFoundInAnyCaseAndInBounds) {
  AnswerHeaders headers;
  EXPECT_TRUE(headers.add("ETag:  \"x\" \r\n"));
  EXPECT_TRUE(headers.add("no line of the kind\r\n"));
  EXPECT_EQ(headers.find("etag"), "\"x\"");
  EXPECT_FALSE(headers.find("location"));
  EXPECT_FALSE(headers.add(std::string(AnswerHeaders::max_bytes, 'x')));
  AnswerHeaders many;
  for (std::size_t i = 0; i < AnswerHeaders::max_lines; ++i) EXPECT_TRUE(many.add("a: b"));
  EXPECT_FALSE(many.add("a: b"));
}

TEST(ContentRange, TakesTheThreeForms) {
  const auto range = parse_content_range("bytes 5-9/10");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, 5u);
  EXPECT_EQ(range->last, 9u);
  EXPECT_EQ(range->total_bytes, 10u);
  EXPECT_FALSE(parse_content_range("Bytes 5-9/*")->total_bytes);
  EXPECT_FALSE(parse_content_range("bytes */10")->has_range);
  for (const std::string_view text :
       {"", "bytes", "bytes 5-4/10", "bytes 5-10/10", "bytes -5/10", "bytes 5-/10", "items 0-1/2",
        "bytes */*", "bytes 0-1", "bytes 0-99999999999999999999/*", "bytes 0-1/x"}) {
    EXPECT_FALSE(parse_content_range(text)) << text;
  }
}

TEST(NextLink, IsTheOneOfThatRelation) {
  EXPECT_EQ(parse_next_link("<https://h/a?b,c>; rel=\"next\""), "https://h/a?b,c");
  EXPECT_EQ(parse_next_link("<a>; rel=\"prev\", <b>; rel=\"next\""), "b");
  EXPECT_FALSE(parse_next_link("<a>; rel=\"prev\""));
  EXPECT_FALSE(parse_next_link("<a; rel=\"next\""));
}

TEST(BearerChallenge, IsTakenApart) {
  const auto challenge =
      parse_bearer_challenge("Bearer realm=\"https://h/token\",service=\"s\", scope=\"a:b:c,d\"");
  ASSERT_TRUE(challenge);
  EXPECT_EQ(challenge->realm, "https://h/token");
  EXPECT_EQ(challenge->service, "s");
  EXPECT_EQ(challenge->scope, "a:b:c,d");
  EXPECT_FALSE(parse_bearer_challenge("Basic realm=\"x\""));
  EXPECT_FALSE(parse_bearer_challenge("Bearer realm=\"x"));
  EXPECT_FALSE(parse_bearer_challenge("Bearer service=\"x\""));
}

}  // namespace
}  // namespace ingot::remote::test
