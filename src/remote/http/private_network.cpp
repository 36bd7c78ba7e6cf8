// SPDX-License-Identifier: MIT
// Network addresses that are not of the public internet (RFC 6890).

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "remote/http/transfer.hpp"

namespace ingot::remote {
namespace {

/// A network: its first bits.
struct Network {
  std::array<std::uint8_t, 4> bytes;
  unsigned bits;
};

// RFC 6890: special-purpose addresses that lead to no public host.
constexpr std::array<Network, 9> private_networks = {{
    {{0, 0, 0, 0}, 8},       // this network
    {{10, 0, 0, 0}, 8},      // private
    {{100, 64, 0, 0}, 10},   // shared by a provider
    {{127, 0, 0, 0}, 8},     // loopback
    {{169, 254, 0, 0}, 16},  // link-local, with the metadata services of clouds
    {{172, 16, 0, 0}, 12},   // private
    {{192, 0, 0, 0}, 24},    // protocol assignments
    {{192, 168, 0, 0}, 16},  // private
    {{198, 18, 0, 0}, 15},   // benchmarks
}};

std::uint32_t number_of(std::span<const std::uint8_t, 4> bytes) noexcept {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | bytes[3];
}

bool is_private_v4(std::span<const std::uint8_t, 4> bytes) noexcept {
  if (bytes[0] >= 224) return true;  // multicast, reserved, broadcast
  return std::any_of(private_networks.begin(), private_networks.end(), [&](const Network& network) {
    return (number_of(bytes) ^ number_of(network.bytes)) >> (32 - network.bits) == 0;
  });
}

bool is_private_v6(std::span<const std::uint8_t, 16> bytes) noexcept {
  const auto starts_with_zeros = [&](std::size_t count) {
    return std::all_of(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(count),
                       [](std::uint8_t byte) { return byte == 0; });
  };
  const std::span<const std::uint8_t, 4> tail = bytes.last<4>();
  const bool is_mapped = starts_with_zeros(10) && bytes[10] == 0xff && bytes[11] == 0xff;
  if (is_mapped || starts_with_zeros(12)) return is_private_v4(tail);  // :: and ::1, too
  if (bytes[0] == 0x00 && bytes[1] == 0x64 && bytes[2] == 0xff && bytes[3] == 0x9b) {
    return is_private_v4(tail);  // 64:ff9b::/96, translated to IPv4
  }
  if (bytes[0] == 0x20 && bytes[1] == 0x02) return is_private_v4(bytes.subspan<2, 4>());  // 6to4
  const bool is_unique_local = (bytes[0] & 0xfe) == 0xfc;
  const bool is_link_local = bytes[0] == 0xfe && (bytes[1] & 0x80) == 0x80;
  return is_unique_local || is_link_local || bytes[0] == 0xff;
}

}  // namespace

bool is_private_network(const sockaddr& address) noexcept {
  if (address.sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, &address, sizeof v4);
    std::array<std::uint8_t, 4> bytes;
    std::memcpy(bytes.data(), &v4.sin_addr, bytes.size());
    return is_private_v4(bytes);
  }
  if (address.sa_family == AF_INET6) {
    sockaddr_in6 v6;
    std::memcpy(&v6, &address, sizeof v6);
    std::array<std::uint8_t, 16> bytes;
    std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
    return is_private_v6(bytes);
  }
  return true;
}

bool is_private_network(const std::string& text) noexcept {
  std::array<std::uint8_t, 16> bytes{};
  if (::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) {
    return is_private_v4(std::span(bytes).first<4>());
  }
  if (::inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return is_private_v6(bytes);
  return true;
}

}  // namespace ingot::remote
