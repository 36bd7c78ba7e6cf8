// SPDX-License-Identifier: MIT
// A server of this process that says what a test wants it to say.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "remote/address/address.hpp"

namespace ingot::remote::test {

/// Gives its answers one after the other, each over a connection of its own, and keeps the heads of
/// the requests for them. To what is asked for afterwards it says nothing.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::vector<std::string> answers = {})
      : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const general = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_, general, size) != 0 || ::listen(socket_, 8) != 0 ||
        ::getsockname(socket_, general, &size) != 0) {
      std::abort();
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, answers = std::move(answers)] { serve(answers); });
  }
  ~ScriptedServer() {
    ::shutdown(socket_, SHUT_RDWR);  // ends accept
    thread_.join();
    ::close(socket_);
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  [[nodiscard]] std::string url(const std::string& path = "/x") const {
    return "http://127.0.0.1:" + std::to_string(port_) + path;
  }
  [[nodiscard]] Address address(const std::string& path = "/x") const {
    return *parse_address(url(path));
  }
  [[nodiscard]] std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  void serve(const std::vector<std::string>& answers) {
    for (const std::string& answer : answers) {
      const int connection = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) return;
      std::string head;
      std::array<char, 4096> piece;
      while (head.find("\r\n\r\n") == std::string::npos) {
        const ssize_t got = ::recv(connection, piece.data(), piece.size(), 0);
        if (got <= 0) break;
        head.append(piece.data(), static_cast<std::size_t>(got));
      }
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(std::move(head));
      }
      static_cast<void>(!::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL));
      ::close(connection);
    }
  }

  int socket_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
  std::thread thread_;
};

/// An answer after which the connection ends.
[[nodiscard]] inline std::string answer_of(const std::string& status, const std::string& lines = {},
                                           const std::string& body = {}) {
  return "HTTP/1.1 " + status +
         "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         lines + "\r\n" + body;
}

}  // namespace ingot::remote::test
