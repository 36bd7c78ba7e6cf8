// SPDX-License-Identifier: MIT
// Network addresses that are not of the public internet.
#pragma once

#include <string>

struct sockaddr;

namespace ingot::remote {

/// Whether an address is of this machine (loopback, unspecified), of a link, or of a private or
/// unique-local network, also behind an IPv6 form of an IPv4 address. Other families than IP are.
[[nodiscard]] bool is_private_network(const sockaddr& address) noexcept;
/// The same for an address as text, such as "192.168.0.1".
[[nodiscard]] bool is_private_network(const std::string& text) noexcept;

}  // namespace ingot::remote
