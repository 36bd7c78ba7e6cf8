// SPDX-License-Identifier: MIT
#include "remote/http/credentials.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
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

/// Sets a variable of the environment, and back.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* const earlier = std::getenv(name)) earlier_ = earlier;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { ::setenv(name_, earlier_.c_str(), 1); }  // empty is the same as none
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::string earlier_;
};

void write(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
  folder.write(name, std::as_bytes(std::span(text)));
}

TEST(FindHubToken, TakesTheFirstThatIsThere) {
  const TemporaryFolder folder;
  write(folder, "token", "of-the-folder\n");
  write(folder, "other", "of-the-file \nmore");
  const std::string home = folder.path("");
  const Variable none("HF_TOKEN", "");
  const Variable no_path("HF_TOKEN_PATH", "");
  EXPECT_EQ(find_hub_token(""), "");
  EXPECT_EQ(find_hub_token(home), "of-the-folder");
  EXPECT_EQ(find_hub_token(folder.path("nothing")), "");
  const Variable path("HF_TOKEN_PATH", folder.path("other"));
  EXPECT_EQ(find_hub_token(home), "of-the-file");
  const Variable token("HF_TOKEN", "of-the-variable");
  EXPECT_EQ(find_hub_token(home), "of-the-variable");
}

TEST(FindHubToken, LeavesLongFiles) {
  const TemporaryFolder folder;
  write(folder, "token", std::string(4097, 'x'));
  const Variable none("HF_TOKEN", "");
  const Variable no_path("HF_TOKEN_PATH", "");
  EXPECT_EQ(find_hub_token(folder.path("")), "");
}

}  // namespace
}  // namespace ingot::remote::test
