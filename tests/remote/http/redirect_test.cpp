// SPDX-License-Identifier: MIT
#include "remote/http/redirect.hpp"

#include <gmock/gmock.h>

#include <string>

#include "support/expect_error.hpp"

namespace ingot::remote::test {
namespace {

using ingot::test::FailsWith;
using ingot::test::Succeeds;
using testing::EndsWith;
using testing::HasSubstr;

std::string resolved(std::string_view base, std::string_view location) {
  const Result<Address> address = resolve_location(*parse_address(base), location);
  return address ? address->url() : std::string(name_of(address.error().code));
}

std::string refusal(std::string_view base, std::string_view location) {
  const Result<Address> address = resolve_location(*parse_address(base), location);
  return address ? address->url() : address.error().detail;
}

TEST(IsRedirect, TakesStatusesWithAnotherPlace) {
  for (const int status : {301, 302, 303, 307, 308}) EXPECT_TRUE(is_redirect(status));
  for (const int status : {200, 300, 304, 305, 306, 309, 404}) EXPECT_FALSE(is_redirect(status));
}

TEST(ResolveLocation, FollowsRelativeOnes) {
  EXPECT_EQ(resolved("http://h/a/b?q", "c"), "http://h/a/c");
  EXPECT_EQ(resolved("http://h/a/b", "../c?d"), "http://h/c?d");
  EXPECT_EQ(resolved("http://h/a/b", "/c"), "http://h/c");
  EXPECT_EQ(resolved("http://h/a/b", "//other/c"), "http://other/c");
  EXPECT_EQ(resolved("http://h/a/b", "https://other/c"), "https://other/c");
  EXPECT_EQ(resolved("http://h/a", "c:d"), "answer_invalid");
  EXPECT_TRUE(resolve_location(*parse_address("http://h/"), "http://me:pw@o/")->user_info.empty());
}

TEST(ResolveLocation, RefusesWhatLeadsDown) {
  EXPECT_EQ(resolved("https://h/a", "http://h/a"), "answer_invalid");
  EXPECT_EQ(resolved("https://h/a", "file:///etc/passwd"), "answer_invalid");
  EXPECT_EQ(resolved("https://h/a", "gopher://h/"), "answer_invalid");
  EXPECT_EQ(resolved("https://h/a", "/a\r\nX: y"), "answer_invalid");
}

TEST(ResolveLocation, SaysWhatIsWrong) {
  EXPECT_THAT(refusal("https://h/a", "http://h/a"), HasSubstr("from https to http"));
  EXPECT_THAT(refusal("http://h/a", "ftp://h/a"), HasSubstr("to ftp:..., and only http and https"));
  EXPECT_THAT(refusal("http://h/a", "ftp://h/\n"), EndsWith("something that is no address"));
  EXPECT_THAT(refusal("http://h/a", "//h:0/"), EndsWith("something that is no address"));
  EXPECT_THAT(refusal("http://h/a", std::string(max_address_bytes + 1, 'x')),
              EndsWith("something that is no address"));
}

Answer redirect_from(std::string_view address) {
  Answer answer;
  answer.status = 302;
  answer.address = *parse_address(address);
  return answer;
}

TEST(FollowRedirect, KeepsWhatHubsSayOnTheWay) {
  Answer hub = redirect_from("https://me:pw@h/a");
  EXPECT_TRUE(hub.headers.add("X-Linked-Etag: \"abc\""));
  EXPECT_TRUE(hub.headers.add("X-Linked-Size: 12"));
  const auto first = follow_redirect(hub, "https://cdn/b?sig=1", 0, hub.address);
  ASSERT_THAT(first, Succeeds());
  EXPECT_EQ(first->address.url(), "https://cdn/b?sig=1");
  EXPECT_TRUE(first->address.user_info.empty());
  const auto second = follow_redirect(*first, "c", 1, hub.address);
  ASSERT_THAT(second, Succeeds());
  EXPECT_EQ(second->address.url(), "https://cdn/c");
  EXPECT_EQ(second->linked_tag, "\"abc\"");
  EXPECT_EQ(second->linked_bytes, 12u);
}

TEST(FollowRedirect, EndsAfterFive) {
  const Answer answer = redirect_from("http://h/a");
  EXPECT_THAT(follow_redirect(answer, "b", max_redirects - 1, answer.address), Succeeds());
  EXPECT_THAT(follow_redirect(answer, "b", max_redirects, answer.address),
              FailsWith(Errc::answer_invalid));
}

}  // namespace
}  // namespace ingot::remote::test
