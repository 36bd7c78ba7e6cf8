// SPDX-License-Identifier: MIT
#include "system/sockets.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <vector>

extern char** environ;

namespace ingot::cli::system {
namespace {

/// Makes a socket one that no call waits for and no child process has.
bool prepare(int socket) noexcept {
  const int flags = ::fcntl(socket, F_GETFL);
  return flags >= 0 && ::fcntl(socket, F_SETFL, flags | O_NONBLOCK) == 0 &&
         ::fcntl(socket, F_SETFD, FD_CLOEXEC) == 0;
}

std::ptrdiff_t result_of(ssize_t count) noexcept {
  if (count >= 0) return count;
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? not_now : -1;
}

}  // namespace

Socket listen_on_loopback(std::uint16_t& port) noexcept {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  if (listener < 0) return no_socket;
  const int one = 1;  // a port of a program that has just ended is free
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  place.sin_port = htons(port);
  socklen_t size = sizeof place;
  auto* const address = reinterpret_cast<sockaddr*>(&place);
  if (prepare(listener) && ::bind(listener, address, size) == 0 &&
      ::listen(listener, SOMAXCONN) == 0 && ::getsockname(listener, address, &size) == 0) {
    port = ntohs(place.sin_port);
    return listener;
  }
  const int reason = errno;
  ::close(listener);
  errno = reason;
  return no_socket;
}

Socket accept_next(Socket listener) noexcept {
  const int socket = ::accept(static_cast<int>(listener), nullptr, nullptr);
  if (socket < 0) return no_socket;
  if (prepare(socket)) return socket;
  ::close(socket);
  return no_socket;
}

void close_socket(Socket socket) noexcept { ::close(static_cast<int>(socket)); }

bool watch(std::span<Watched> sockets, int most_ms) {
  std::vector<pollfd> asked;
  for (const Watched& watched : sockets) {
    const short event = watched.is_for_writing ? POLLOUT : POLLIN;
    asked.push_back({static_cast<int>(watched.socket), event, 0});
  }
  if (::poll(asked.data(), static_cast<nfds_t>(asked.size()), most_ms) < 0 && errno != EINTR) {
    return false;
  }
  for (std::size_t i = 0; i < asked.size(); ++i) sockets[i].is_ready = asked[i].revents != 0;
  return true;
}

std::ptrdiff_t receive(Socket socket, std::span<char> bytes) noexcept {
  return result_of(::recv(static_cast<int>(socket), bytes.data(), bytes.size(), 0));
}

std::ptrdiff_t send(Socket socket, std::string_view bytes) noexcept {
  return result_of(::send(static_cast<int>(socket), bytes.data(), bytes.size(), 0));
}

bool draw_random(std::span<std::byte> bytes) noexcept {
  return ::getentropy(bytes.data(), bytes.size()) == 0;
}

std::string program_path() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}

bool open_browser(const std::string& address) {
  std::string program = "xdg-open";
  std::string argument = address;
  const std::array<char*, 3> words = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  if (::posix_spawnp(&child, program.c_str(), nullptr, nullptr, words.data(), environ) != 0) {
    return false;
  }
  int status = 0;  // it hands the address on and ends
  return ::waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace ingot::cli::system
