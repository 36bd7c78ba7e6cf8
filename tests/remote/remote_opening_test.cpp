// SPDX-License-Identifier: MIT
// Models that are opened in a thread of their own.

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <string>

#include "ingot/remote.hpp"
#include "remote/http/curl_library.hpp"
#include "support/expect_error.hpp"
#include "support/gguf_builder.hpp"
#include "support/temporary_folder.hpp"

namespace ingot::test {
namespace {

/// A place that accepts connections and never answers.
class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const general = reinterpret_cast<sockaddr*>(&address);
    is_ready_ = ::bind(socket_, general, size) == 0 && ::listen(socket_, 8) == 0 &&
                ::getsockname(socket_, general, &size) == 0;
    port_ = ntohs(address.sin_port);
  }
  ~SilentServer() { ::close(socket_); }
  SilentServer(const SilentServer&) = delete;
  SilentServer& operator=(const SilentServer&) = delete;

  [[nodiscard]] bool is_ready() const { return is_ready_; }
  [[nodiscard]] std::string address() const {
    return "http://127.0.0.1:" + std::to_string(port_) + "/x.gguf";
  }

 private:
  int socket_;
  bool is_ready_ = false;
  int port_ = 0;
};

using Promise = std::promise<Errc>;

RemoteCallback tell(Promise& promise) {
  return [&promise](const Result<RemoteModel>& opened) {
    promise.set_value(opened ? Errc::internal : opened.error().code);
  };
}

RemoteOptions patient_options() {
  RemoteOptions options;
  options.max_retries = 0;
  options.times.first_byte = std::chrono::hours(1);
  options.times.stall = std::chrono::hours(1);
  options.times.header = std::chrono::hours(1);
  return options;
}

TEST(RemoteOpening, EndsWhenItIsCancelled) {
  if (!remote::curl_library()) GTEST_SKIP() << "no libcurl";
  const SilentServer server;
  ASSERT_TRUE(server.is_ready());
  Promise promise;
  RemoteOpening opening = open_remote_async(server.address(), patient_options(), tell(promise));
  std::future<Errc> answer = promise.get_future();
  EXPECT_EQ(answer.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  opening.cancel();
  EXPECT_EQ(answer.get(), Errc::interrupted);
}

TEST(RemoteOpening, EndsWithItsHandle) {
  if (!remote::curl_library()) GTEST_SKIP() << "no libcurl";
  const SilentServer server;
  ASSERT_TRUE(server.is_ready());
  Promise promise;
  { const auto opening = open_remote_async(server.address(), patient_options(), tell(promise)); }
  EXPECT_EQ(promise.get_future().get(), Errc::interrupted);
}

TEST(RemoteOpening, TellsWhyThereIsNoModel) {
  Promise promise;
  const auto opening = open_remote_async("hf:../x", {}, tell(promise));
  EXPECT_EQ(promise.get_future().get(), Errc::reference_invalid);
}

TEST(OpenRemote, LimitsTheTimeOfAHeader) {
  if (!remote::curl_library()) GTEST_SKIP() << "no libcurl";
  const SilentServer server;
  ASSERT_TRUE(server.is_ready());
  RemoteOptions options = patient_options();
  options.times.header = std::chrono::milliseconds(100);
  EXPECT_THAT(open_remote(server.address(), options), FailsWith(Errc::remote_failed));
}

TEST(OpenRemote, OpensWhatIsHere) {
  const TemporaryFolder folder;
  const Bytes file = GgufBuilder().pair("k", "v").bytes();
  folder.write("m.gguf", file);
  const auto opened = open_remote("file://" + folder.path("m.gguf"), {});
  ASSERT_THAT(opened, Succeeds());
  EXPECT_EQ(opened->opened.model.get<std::string_view>("k").value(), "v");
}

}  // namespace
}  // namespace ingot::test
