// SPDX-License-Identifier: MIT
#include "remote/address/address.hpp"

#include <gmock/gmock.h>

#include <string>

namespace ingot::remote::test {
namespace {

std::string url_of(std::string_view text) {
  const Result<Address> address = parse_address(text);
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

TEST(SafePath, HasNoWayOut) {
  EXPECT_TRUE(is_safe_path("a/b c/d.gguf"));
  for (const std::string_view path : {"", "/a", "a/", "a//b", "..", "a/../b", ".", "a\\b", "a%2Fb",
                                      "a\x01", "a\xff", "a\xc2\x8a", "a\xe2\x80\xae"}) {
    EXPECT_FALSE(is_safe_path(path)) << path;
  }
}

}  // namespace
}  // namespace ingot::remote::test
