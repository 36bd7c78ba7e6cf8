// SPDX-License-Identifier: MIT
#include "remote/http/credentials.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::remote::test {
namespace {

using ingot::test::FailsWith;
using ingot::test::Succeeds;
using ingot::test::TemporaryFolder;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> lines_for(const Credentials& credentials, std::string_view address) {
  std::vector<std::string> lines;
  credentials.append_lines(*parse_address(address), lines);
  return lines;
}

TEST(Credentials, AreForOneSite) {
  Credentials credentials;
  credentials.add_given(*parse_address("http://h/a"), "X: y");
  credentials.add_secret(*parse_address("https://hub/"), "Authorization: Bearer t");
  EXPECT_THAT(lines_for(credentials, "http://h/other?x"), ElementsAre("X: y"));
  EXPECT_THAT(lines_for(credentials, "https://HUB:443/x"), ElementsAre("Authorization: Bearer t"));
  for (const char* const other : {"https://h/a", "http://h:81/a", "http://hub/", "https://hub:444/",
                                  "https://cdn.hub/", "https://hub.example/"}) {
    EXPECT_THAT(lines_for(credentials, other), IsEmpty()) << other;
  }
}

TEST(Credentials, AreNotSentWhereOthersRead) {
  Credentials credentials;
  credentials.add_secret(*parse_address("http://hub/"), "Authorization: Bearer t");
  EXPECT_THAT(lines_for(credentials, "http://hub/"), IsEmpty());
  credentials.add_secret(*parse_address("http://127.0.0.1:80/"), "Authorization: Bearer t");
  EXPECT_THAT(lines_for(credentials, "http://127.0.0.1/"), ElementsAre("Authorization: Bearer t"));
}

TEST(Credentials, AreOneLineEach) {
  Credentials credentials;
  for (const std::string& token :
       {std::string("a\nb"), std::string("a\rb"), std::string("a\0b", 3)}) {
    credentials.add_secret(*parse_address("https://hub/"), "Authorization: Bearer " + token);
  }
  EXPECT_THAT(lines_for(credentials, "https://hub/"), IsEmpty());
}

TEST(CheckHeaderLine, WantsANameAndNoLineEnd) {
  EXPECT_THAT(check_header_line("X-Key: a b"), Succeeds());
  for (const char* const line : {"", "X-Key", ": b", "X: a\r\nY: b", "X: \x7f"}) {
    EXPECT_THAT(check_header_line(line), FailsWith(Errc::reference_invalid)) << line;
  }
}

void write(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
  folder.write(name, std::as_bytes(std::span(text)));
}

TEST(FindHubToken, TakesTheFirstThatIsThere) {
  const TemporaryFolder folder;
  write(folder, "token", "of-the-folder\n");
  write(folder, "other", "of-the-file \nmore");
  const std::string home = folder.path("");
  const std::string other = folder.path("other");
  EXPECT_EQ(find_hub_token("", "", ""), "");
  EXPECT_EQ(find_hub_token("", "", home), "of-the-folder");
  EXPECT_EQ(find_hub_token("", "", folder.path("nothing")), "");
  EXPECT_EQ(find_hub_token("", other, home), "of-the-file");
  EXPECT_EQ(find_hub_token("", folder.path("nothing"), home), "");
  EXPECT_EQ(find_hub_token("of-the-variable", other, home), "of-the-variable");
}

TEST(FindHubToken, LeavesLongFiles) {
  const TemporaryFolder folder;
  write(folder, "token", std::string(4097, 'x'));
  EXPECT_EQ(find_hub_token("", "", folder.path("")), "");
}

}  // namespace
}  // namespace ingot::remote::test
