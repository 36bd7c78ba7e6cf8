// SPDX-License-Identifier: MIT
// Requests to a server of this process: what is followed, sent again, and kept secret.

#include "remote/http/client.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "remote/http/curl_library.hpp"
#include "remote/http/redirect.hpp"
#include "remote/http/scripted_server.hpp"
#include "support/expect_error.hpp"

namespace ingot::remote::test {
namespace {

using ingot::test::FailsWith;
using ingot::test::Succeeds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t limit_bytes = 1000;

class ClientTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!curl_library()) GTEST_SKIP() << "no libcurl";
    options_.times.first_wait = std::chrono::milliseconds(1);
    options_.max_retries = 2;
  }

  /// A client for a server that the user names.
  [[nodiscard]] std::shared_ptr<Client> client_for(const ScriptedServer& server) const {
    auto client = Client::make(options_);
    if (!client) return nullptr;
    (*client)->add_named_site(server.address());
    return *std::move(client);
  }
  [[nodiscard]] static Result<std::string> text_of(Client& client, const Request& request) {
    INGOT_TRY(auto answer, client.get(request, limit_bytes));
    return std::move(answer.second);
  }

  RemoteOptions options_;
};

TEST_F(ClientTest, LeavesSecretsBehindWhenItIsRedirected) {
  const ScriptedServer other({answer_of("200 OK", {}, "body")});
  const ScriptedServer hub({answer_of("302 Found", "Location: /y\r\n"),
                            answer_of("302 Found", "Location: " + other.url() + "\r\n")});
  options_.headers = {"X-Given: by-the-user"};
  const auto client = client_for(hub);
  ASSERT_NE(client, nullptr);
  client->add_credential(hub.address(), "Authorization: Bearer secret");
  EXPECT_EQ(text_of(*client, {hub.address()}).value(), "body");
  const std::vector<std::string> asked = hub.requests();
  ASSERT_EQ(asked.size(), 2u);
  for (const std::string& request : asked) {
    EXPECT_THAT(request, HasSubstr("Authorization: Bearer secret\r\n"));
    EXPECT_THAT(request, HasSubstr("X-Given: by-the-user\r\n"));
  }
  EXPECT_THAT(asked[1], testing::StartsWith("GET /y "));
  EXPECT_THAT(other.requests(),
              ElementsAre(testing::AllOf(Not(HasSubstr("secret")), Not(HasSubstr("X-Given")))));
}

TEST_F(ClientTest, LeavesPasswordsBehindWithinASite) {
  const ScriptedServer server(
      {answer_of("307 Temporary Redirect", "Location: /y\r\n"), answer_of("200 OK", {}, "body")});
  Address address = server.address();
  address.user_info = "me:pw";
  const auto client = client_for(server);
  EXPECT_EQ(text_of(*client, {address}).value(), "body");
  ASSERT_EQ(server.requests().size(), 2u);
  EXPECT_THAT(server.requests()[0], HasSubstr("Authorization: Basic "));
  EXPECT_THAT(server.requests()[1], Not(HasSubstr("Authorization")));
}

TEST_F(ClientTest, EndsAfterFiveRedirects) {
  const ScriptedServer server(
      std::vector<std::string>(max_redirects + 1, answer_of("302 Found", "Location: /x\r\n")));
  const auto client = client_for(server);
  EXPECT_THAT(text_of(*client, {server.address()}), FailsWith(Errc::answer_invalid));
  EXPECT_EQ(server.requests().size(), std::size_t{max_redirects} + 1);
}

TEST_F(ClientTest, RefusesALocalNetworkThatNobodyNamed) {
  const ScriptedServer server({answer_of("200 OK", {}, "body")});
  const Result<std::shared_ptr<Client>> client = Client::make(options_);
  ASSERT_THAT(client, Succeeds());
  const auto refused = text_of(**client, {server.address()});
  ASSERT_THAT(refused, FailsWith(Errc::answer_invalid));
  EXPECT_THAT(refused.error().detail, HasSubstr("of a local network"));
}

TEST_F(ClientTest, AsksABusyServerAgain) {
  const ScriptedServer server(
      {answer_of("503 Service Unavailable", "Retry-After: 0\r\n"), answer_of("200 OK", {}, "ok")});
  const auto client = client_for(server);
  EXPECT_EQ(text_of(*client, {server.address()}).value(), "ok");
  EXPECT_EQ(client->traffic().retries, 1u);
  EXPECT_EQ(server.requests().size(), 2u);
  EXPECT_FALSE(client->is_throttled());
}

TEST_F(ClientTest, GivesUpAfterSoManyRetries) {
  const ScriptedServer server(std::vector<std::string>(3, answer_of("429 Too Many Requests")));
  const auto client = client_for(server);
  const auto text = text_of(*client, {server.address()});
  ASSERT_THAT(text, FailsWith(Errc::remote_failed));
  EXPECT_EQ(text.error().detail, "status 429; tried 3 times");
  EXPECT_TRUE(client->is_throttled());
}

TEST_F(ClientTest, TakesARefusalForWhatItIs) {
  const ScriptedServer server({answer_of("404 Not Found"), answer_of("403 Forbidden")});
  const auto client = client_for(server);
  EXPECT_THAT(text_of(*client, {server.address()}), FailsWith(Errc::remote_not_found));
  EXPECT_THAT(text_of(*client, {server.address()}), FailsWith(Errc::remote_denied));
  EXPECT_EQ(client->traffic().retries, 0u);
}

TEST_F(ClientTest, RefusesLinesThatContradictOneAnother) {
  const ScriptedServer server(
      {answer_of("200 OK", "Content-Range: bytes 0-1/2\r\nContent-Range: bytes 0-1/3\r\n", "ok")});
  const auto client = client_for(server);
  EXPECT_THAT(text_of(*client, {server.address()}), FailsWith(Errc::answer_invalid));
}

TEST_F(ClientTest, EndsTheRequestOfATaskThatIsCancelled) {
  const ScriptedServer silent;
  const auto client = client_for(silent);
  std::vector<Task<Result<std::string>>> tasks;
  for (int i = 0; i < 4; ++i) {
    tasks.push_back(client->tasks().start([&](const std::stop_token& stop) {
      Request request{silent.address()};
      request.stop = stop;
      return text_of(*client, request);
    }));
  }
  EXPECT_FALSE(tasks[0].is_done());
  tasks[0].cancel();
  EXPECT_THAT(tasks[0].get(), FailsWith(Errc::interrupted));
  tasks.clear();
}

TEST_F(ClientTest, LimitsTheTimeOfAnOpening) {
  const ScriptedServer silent;
  options_.times.header = std::chrono::milliseconds(50);
  const auto client = client_for(silent);
  const OpeningTime time(client.get());
  const auto text = text_of(*client, {silent.address()});
  ASSERT_THAT(text, FailsWith(Errc::remote_failed));
  EXPECT_THAT(text.error().detail, HasSubstr("did not arrive within"));
}

}  // namespace
}  // namespace ingot::remote::test
