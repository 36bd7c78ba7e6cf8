// SPDX-License-Identifier: MIT
#include "remote/http/answer_headers.hpp"

#include <gmock/gmock.h>

#include <string>

#include "remote/http/private_network.hpp"

namespace ingot::remote::test {
namespace {

using std::chrono::seconds;

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

TEST(RetryAfter, IsANumberOrADate) {
  EXPECT_EQ(parse_retry_after("7", 0), seconds(7));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", 784111770), seconds(7));
  EXPECT_EQ(parse_retry_after("Sun, 06 Nov 1994 08:49:37 GMT", 1'000'000'000), seconds(0));
  EXPECT_FALSE(parse_retry_after("soon", 0));
  EXPECT_FALSE(parse_retry_after("-1", 0));
  EXPECT_FALSE(parse_retry_after("Sun, 06 Xxx 1994 08:49:37 GMT", 0));
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

TEST(PrivateNetwork, IsEverythingThatIsNotPublic) {
  for (const char* const text :
       {"127.0.0.1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "169.254.169.254", "0.0.0.0",
        "100.64.0.1", "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "fd12::1",
        "::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "2002:7f00:1::", "ff02::1", "no address"}) {
    EXPECT_TRUE(is_private_network(std::string(text))) << text;
  }
  for (const char* const text : {"1.1.1.1", "172.32.0.1", "192.169.0.1", "2606:4700::1111",
                                 "::ffff:8.8.8.8", "2002:808:808::"}) {
    EXPECT_FALSE(is_private_network(std::string(text))) << text;
  }
}

}  // namespace
}  // namespace ingot::remote::test
