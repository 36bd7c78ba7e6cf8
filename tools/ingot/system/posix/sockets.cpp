// SPDX-License-Identifier: MIT
#include "system/sockets.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#include <sys/random.h>
#endif

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
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

#ifdef __linux__
/// An end of a connection as proc(5) writes it: the address as it lies in memory, and the port.
std::string name_of(const sockaddr_in& end) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%08X:%04X", end.sin_addr.s_addr,
                static_cast<unsigned>(ntohs(end.sin_port)));
  return text.data();
}

/// Whether a program of another user is at the other end. The kernel lists the sockets of all, and
/// those that speak IPv4 through IPv6 in a list of their own.
bool is_of_other_user(int socket) {
  sockaddr_in own{};
  sockaddr_in peer{};
  socklen_t own_size = sizeof own;
  socklen_t peer_size = sizeof peer;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &own_size) != 0 ||
      ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &peer_size) != 0) {
    return true;
  }
  for (const char* list : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
    std::ifstream rows(list);
    for (std::string row; std::getline(rows, row);) {
      // Number, local end, remote end, state, queues, timer, retries, user.
      std::array<std::string, 7> words;
      uid_t user = 0;
      std::istringstream text(row);
      for (std::string& word : words) text >> word;
      if (!(text >> user)) continue;
      if (!words[1].ends_with(name_of(peer)) || !words[2].ends_with(name_of(own))) continue;
      return user != 0 && user != ::geteuid();
    }
  }
  return false;  // the system does not tell, and the token still guards
}
#else
bool is_of_other_user(int) { return false; }
#endif

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

Socket accept_next(Socket listener) {
  const int socket = ::accept(static_cast<int>(listener), nullptr, nullptr);
  if (socket < 0) return no_socket;
  if (prepare(socket) && !is_of_other_user(socket)) return socket;
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

#ifdef __APPLE__
std::string program_path() {
  std::uint32_t size = 0;
  ::_NSGetExecutablePath(nullptr, &size);
  std::string path(size, '\0');
  if (::_NSGetExecutablePath(path.data(), &size) != 0) return {};
  std::error_code failed;
  return std::filesystem::canonical(path.c_str(), failed).string();
}
constexpr const char* browser_starter = "open";
#else
std::string program_path() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).string();
}
constexpr const char* browser_starter = "xdg-open";
#endif

bool open_browser(const std::string& address) {
  std::string program = browser_starter;
  std::string argument = address;
  const std::array<char*, 3> words = {program.data(), argument.data(), nullptr};
  // The browser may become a child that lives on: Ctrl-C and this program's output are not for it,
  // nor are the signals that this program ignores.
  sigset_t usual{};
  sigemptyset(&usual);
  for (const int ignored : {SIGPIPE, SIGXFSZ, SIGCHLD}) sigaddset(&usual, ignored);
  posix_spawnattr_t attributes{};
  posix_spawn_file_actions_t files{};
  if (::posix_spawnattr_init(&attributes) != 0) return false;
  if (::posix_spawn_file_actions_init(&files) != 0) return false;
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setsigdefault(&attributes, &usual);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    ::posix_spawn_file_actions_addopen(&files, descriptor, "/dev/null", O_RDWR, 0);
  }
  std::signal(SIGCHLD, SIG_IGN);  // nothing is left of a child that has ended
  pid_t child = 0;
  const int error =
      ::posix_spawnp(&child, program.c_str(), &files, &attributes, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  return error == 0;
}

}  // namespace ingot::cli::system
