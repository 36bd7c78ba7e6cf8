// SPDX-License-Identifier: MIT
// What `ingot view` asks the operating system: sockets that only this machine reaches, chance, the
// place of the program, a browser. No call waits but `watch`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ingot::cli::system {

using Socket = std::intptr_t;
inline constexpr Socket no_socket = -1;

/// A socket that listens on 127.0.0.1, on any free port if `port` is 0, which then becomes the
/// port. no_socket if that fails; errno says why.
[[nodiscard]] Socket listen_on_loopback(std::uint16_t& port) noexcept;
/// The next one who wants to talk; no_socket if there is nobody. Where the system tells it (Linux),
/// programs of other users but root are sent away: they may have seen an address that this user's
/// programs were started with.
[[nodiscard]] Socket accept_next(Socket listener);
void close_socket(Socket socket) noexcept;

struct Watched {
  Socket socket = no_socket;
  bool is_for_writing = false;
  bool is_ready = false;  ///< Set by `watch`; also if the other side has gone.
};
/// Waits until one of them is ready, or the time is over. False if the system fails.
[[nodiscard]] bool watch(std::span<Watched> sockets, int most_ms);

inline constexpr std::ptrdiff_t not_now = -2;
/// The number of bytes, 0 at the end, -1 if the other side has gone, or not_now.
[[nodiscard]] std::ptrdiff_t receive(Socket socket, std::span<char> bytes) noexcept;
/// The number of bytes that were taken, -1 or not_now.
[[nodiscard]] std::ptrdiff_t send(Socket socket, std::string_view bytes) noexcept;

/// Fills `bytes` with what nobody can guess; false if the system has none.
[[nodiscard]] bool draw_random(std::span<std::byte> bytes) noexcept;

/// The path of this program; empty if it is not known.
[[nodiscard]] std::string program_path();

/// Starts what shows an address in the user's browser, and does not wait for it. False if there is
/// nothing to start; what it does then is not known here.
[[nodiscard]] bool open_browser(const std::string& address);

}  // namespace ingot::cli::system
