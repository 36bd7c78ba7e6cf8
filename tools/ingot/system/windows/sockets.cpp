// SPDX-License-Identifier: MIT
#include "system/sockets.hpp"

#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <winsock2.h>
// After winsock2.h.
#include <windows.h>
// After windows.h.
#include <bcrypt.h>
#include <shellapi.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <vector>

namespace ingot::cli::system {
namespace {

SOCKET handle_of(Socket socket) noexcept { return static_cast<SOCKET>(socket); }

int cut(std::size_t size) noexcept {
  return static_cast<int>(std::min<std::size_t>(size, std::numeric_limits<int>::max()));
}

std::ptrdiff_t result_of(int count) noexcept {
  if (count >= 0) return count;
  return ::WSAGetLastError() == WSAEWOULDBLOCK ? not_now : -1;
}

}  // namespace

Socket listen_on_loopback(std::uint16_t& port) noexcept {
  WSADATA ignored{};
  errno = EIO;
  if (::WSAStartup(MAKEWORD(2, 2), &ignored) != 0) return no_socket;
  const SOCKET listener = ::socket(AF_INET, SOCK_STREAM, 0);
  if (listener == INVALID_SOCKET) return no_socket;
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  place.sin_port = ::htons(port);
  int size = sizeof place;
  auto* const address = reinterpret_cast<sockaddr*>(&place);
  unsigned long one = 1;
  const BOOL is_alone = TRUE;  // no other program takes the port, too
  ::setsockopt(listener, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, reinterpret_cast<const char*>(&is_alone),
               sizeof is_alone);
  if (::ioctlsocket(listener, static_cast<long>(FIONBIO), &one) == 0 &&
      ::bind(listener, address, size) == 0 && ::listen(listener, SOMAXCONN) == 0 &&
      ::getsockname(listener, address, &size) == 0) {
    port = ::ntohs(place.sin_port);
    return static_cast<Socket>(listener);
  }
  errno = ::WSAGetLastError() == WSAEADDRINUSE ? EADDRINUSE : EIO;
  ::closesocket(listener);
  return no_socket;
}

Socket accept_next(Socket listener) {
  const SOCKET socket = ::accept(handle_of(listener), nullptr, nullptr);
  return socket == INVALID_SOCKET ? no_socket : static_cast<Socket>(socket);
}

void close_socket(Socket socket) noexcept { ::closesocket(handle_of(socket)); }

bool watch(std::span<Watched> sockets, int most_ms) {
  std::vector<WSAPOLLFD> asked;
  for (const Watched& watched : sockets) {
    const short event = watched.is_for_writing ? POLLWRNORM : POLLRDNORM;
    asked.push_back({handle_of(watched.socket), event, 0});
  }
  if (::WSAPoll(asked.data(), static_cast<ULONG>(asked.size()), most_ms) < 0) return false;
  for (std::size_t i = 0; i < asked.size(); ++i) sockets[i].is_ready = asked[i].revents != 0;
  return true;
}

std::ptrdiff_t receive(Socket socket, std::span<char> bytes) noexcept {
  return result_of(::recv(handle_of(socket), bytes.data(), cut(bytes.size()), 0));
}

std::ptrdiff_t send(Socket socket, std::string_view bytes) noexcept {
  return result_of(::send(handle_of(socket), bytes.data(), cut(bytes.size()), 0));
}

bool draw_random(std::span<std::byte> bytes) noexcept {
  return ::BCryptGenRandom(nullptr, reinterpret_cast<PUCHAR>(bytes.data()),
                           static_cast<ULONG>(bytes.size()), BCRYPT_USE_SYSTEM_PREFERRED_RNG) >= 0;
}

std::string program_path() {
  std::array<wchar_t, 4096> path{};
  const DWORD size = ::GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size()));
  if (size == 0 || size == path.size()) return {};
  std::string text(4 * std::size_t{size}, '\0');
  text.resize(static_cast<std::size_t>(
      ::WideCharToMultiByte(CP_UTF8, 0, path.data(), static_cast<int>(size), text.data(),
                            static_cast<int>(text.size()), nullptr, nullptr)));
  return text;
}

bool open_browser(const std::string& address) {
  const HINSTANCE answer =
      ::ShellExecuteA(nullptr, "open", address.c_str(), nullptr, nullptr, SW_SHOWNORMAL);
  return reinterpret_cast<INT_PTR>(answer) > 32;  // as ShellExecute says "done"
}

}  // namespace ingot::cli::system
