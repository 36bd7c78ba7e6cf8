// SPDX-License-Identifier: MIT
// Addresses of the web: http and https, and nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ingot/error.hpp"

namespace ingot::remote {

/// A checked address. No part holds a control character, a blank or a byte beyond ASCII, so it can
/// be a line of a request.
struct Address {
  bool is_https = true;
  std::string user_info;  ///< "user:password" as written; sent to this site only, and never shown.
  std::string host;       ///< The name in lower case; IPv6 in brackets.
  std::uint16_t port = 0;
  std::string path = "/";  ///< Percent-encoded.
  std::string query;       ///< The query without its question mark.

  /// The address for a request, without `user_info`.
  [[nodiscard]] std::string url() const;
  /// The address for messages, caches and JSON: neither `user_info` nor what the query holds, which
  /// may be a signature.
  [[nodiscard]] std::string shown() const;
  /// Scheme, host and port: "https://example.org:443". Credentials belong to a site.
  [[nodiscard]] std::string site() const;
  /// Whether the host is this machine by its name: only then may a secret go over http.
  [[nodiscard]] bool is_loopback() const noexcept;
};

inline constexpr std::size_t max_address_bytes = 8192;

/// Reads "http://..." or "https://...". Bytes that an address cannot hold are percent-encoded;
/// control characters and backslashes are refused, and so is a fragment's meaning: it is dropped.
/// Errc::reference_invalid.
[[nodiscard]] Result<Address> parse_address(std::string_view text);

/// Whether a text is short enough for an address, without control characters and backslashes.
[[nodiscard]] bool is_address_text(std::string_view text) noexcept;

/// "ftp" of "ftp://..."; nothing for a location within a site.
[[nodiscard]] std::optional<std::string_view> scheme_of(std::string_view location) noexcept;

/// The address that a location leads to from another one, by RFC 3986; nothing if it is none. Its
/// own user information is dropped.
[[nodiscard]] std::optional<Address> resolve(const Address& base, std::string_view location);

/// Percent-encodes a path once; `/` stays.
[[nodiscard]] std::string encode_path(std::string_view path);

/// Percent-encodes a value in a query: letters, digits, `-`, `.`, `_` and `~` stay.
[[nodiscard]] std::string encode_value(std::string_view value);

/// The text with its `%XX` as bytes; what is no such escape stays.
[[nodiscard]] std::string decode_percents(std::string_view text);

/// Whether a name from a server or a user can be one part of a path: not empty, not `.` or `..`,
/// without slash, `%2f` and what `escape` would change (backslashes, control and invisible
/// characters), valid UTF-8, at most 255 bytes.
[[nodiscard]] bool is_safe_segment(std::string_view name);
/// The same for all parts of a path between slashes.
[[nodiscard]] bool is_safe_path(std::string_view path);

/// Whether a text is 64 lower-case hexadecimal digits.
[[nodiscard]] bool is_sha256(std::string_view text) noexcept;
/// The digest that a server or a user wrote, in lower case, as all digests are compared; empty if
/// the text is none.
[[nodiscard]] std::string parse_sha256(std::string_view text);
/// The same behind "sha256:".
[[nodiscard]] std::string parse_digest(std::string_view text);

}  // namespace ingot::remote
