// SPDX-License-Identifier: MIT
#include "remote/address/address.hpp"

#include <gmock/gmock.h>

#include <string>

#include "support/expect_error.hpp"

namespace ingot::remote::test {
namespace {

using ingot::test::FailsWith;

std::string url_of(std::string_view text) {
  const Result<Address> address = parse_address(text);
  return address ? address->url() : std::string(name_of(address.error().code));
}

std::string resolved(std::string_view base, std::string_view location) {
  const Result<Address> address = resolve_location(*parse_address(base), location);
  return address ? address->url() : std::string(name_of(address.error().code));
}

TEST(Address, IsWrittenInOneForm) {
  EXPECT_EQ(url_of("HTTPS://Example.ORG"), "https://example.org/");
  EXPECT_EQ(url_of("https://example.org:443/a/../b/./c?x=1#y"), "https://example.org/b/c?x=1");
  EXPECT_EQ(url_of("http://h:8080/a b\xc3\xa4%20%zz"), "http://h:8080/a%20b%C3%A4%20%25zz");
  EXPECT_EQ(url_of("http://[::1]:81/x"), "http://[::1]:81/x");
  EXPECT_EQ(url_of("http://h/../../etc"), "http://h/etc");
  EXPECT_EQ(url_of("ftp://h/x"), "reference_invalid");
  EXPECT_EQ(url_of("http://h:0/x"), "reference_invalid");
}

TEST(Address, KeepsSecretsToItself) {
  const Address address = *parse_address("https://me:pw@h/x?sig=1");
  EXPECT_EQ(address.user_info, "me:pw");
  EXPECT_EQ(address.url(), "https://h/x?sig=1");
  EXPECT_EQ(address.shown(), "https://h/x?...");
  EXPECT_EQ(address.site(), "https://h:443");
}

TEST(Address, FollowsLocations) {
  EXPECT_EQ(resolved("http://h/a/b?q", "c"), "http://h/a/c");
  EXPECT_EQ(resolved("http://h/a/b", "../c?d"), "http://h/c?d");
  EXPECT_EQ(resolved("http://h/a/b", "/c"), "http://h/c");
  EXPECT_EQ(resolved("http://h/a/b", "//other/c"), "http://other/c");
  EXPECT_EQ(resolved("http://h/a/b", "https://other/c"), "https://other/c");
  EXPECT_EQ(resolved("http://h/a", "c:d"), "answer_invalid");
  EXPECT_TRUE(resolve_location(*parse_address("http://h/"), "http://me:pw@o/")->user_info.empty());
}

TEST(Address, RefusesLocationsThatLeadDown) {
  EXPECT_EQ(resolved("https://h/a", "http://h/a"), "answer_invalid");
  EXPECT_EQ(resolved("https://h/a", "file:///etc/passwd"), "answer_invalid");
  EXPECT_EQ(resolved("https://h/a", "gopher://h/"), "answer_invalid");
  EXPECT_EQ(resolved("https://h/a", "/a\r\nX: y"), "answer_invalid");
}

TEST(SafePath, HasNoWayOut) {
  EXPECT_TRUE(is_safe_path("a/b c/d.gguf"));
  for (const std::string_view path : {"", "/a", "a/", "a//b", "..", "a/../b", ".", "a\\b", "a%2Fb",
                                      "a\x01", "a\xff", "a\xc2\x8a", "a\xe2\x80\xae"}) {
    EXPECT_FALSE(is_safe_path(path)) << path;
  }
}

}  // namespace
}  // namespace ingot::remote::test
