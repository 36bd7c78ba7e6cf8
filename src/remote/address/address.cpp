// SPDX-License-Identifier: MIT
#include "remote/address/address.hpp"

#include <algorithm>
#include <utility>

#include "base/ascii.hpp"
#include "base/hexadecimal.hpp"
#include "base/strings.hpp"
#include "ingot/text.hpp"

namespace ingot::remote {
namespace {

/// The byte that `%XX` at a place of a text stands for; nothing if there is none.
std::optional<char> escape_at(std::string_view text, std::size_t at) noexcept {
  return text[at] == '%' ? byte_of_hexadecimal(text.substr(at + 1, 2)) : std::nullopt;
}

/// Bytes that a path or a query may hold as they are, `%` apart (RFC 3986).
bool is_plain(char c) noexcept {
  constexpr std::string_view others = "-._~!$&'()*+,;=:@/?";
  return is_letter_or_digit(c) || others.find(c) != std::string_view::npos;
}

/// The text with all bytes encoded but those at places for which keeps(at).
template <class Keeps>
std::string encoded(std::string_view text, const Keeps& keeps) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (keeps(at)) {
      out += text[at];
    } else {
      out += "%" + hexadecimal_byte(text[at], upper_hexadecimal_digits);
    }
  }
  return out;
}

/// Encodes what an address cannot hold, and leaves what is encoded already.
std::string normalised(std::string_view text) {
  return encoded(text, [&](std::size_t at) { return is_plain(text[at]) || escape_at(text, at); });
}

/// The path without `.` and `..` (RFC 3986, 5.2.4).
std::string without_dots(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/', 1), path.size());
    const std::string_view segment = path.substr(0, end);
    const bool is_last = end == path.size();
    path.remove_prefix(end);
    if (segment == "/.") {
      if (is_last) out += '/';
    } else if (segment == "/..") {
      out.erase(out.rfind('/') == std::string::npos ? 0 : out.rfind('/'));
      if (is_last) out += '/';
    } else {
      out += segment;
    }
  }
  return out.empty() ? "/" : out;
}

bool is_host(std::string_view host) noexcept {
  if (host.empty() || host.size() > 255) return false;
  if (host.front() == '[') {
    return host.size() > 3 && host.back() == ']' &&
           std::all_of(host.begin() + 1, host.end() - 1,
                       [](char c) { return value_of_hexadecimal(c) || c == ':' || c == '.'; });
  }
  return host.front() != '.' && host.front() != '-' && std::ranges::all_of(host, [](char c) {
           return is_lower_or_digit(c) || c == '-' || c == '.' || c == '_';
         });
}

/// Takes host and port from "HOST:PORT".
bool take_host(std::string_view text, Address& address) {
  address.port = address.is_https ? 443 : 80;
  const std::size_t bracket = text.rfind(']');
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    address.port = parse_number<std::uint16_t>(text.substr(colon + 1)).value_or(0);
    if (address.port == 0) return false;
    text = text.substr(0, colon);
  }
  address.host = lower_case(text);
  return is_host(address.host);
}

/// Takes path and query; the fragment means nothing to a server.
void take_path(std::string_view text, Address& address) {
  text = text.substr(0, text.find('#'));
  const std::size_t question = std::min(text.find('?'), text.size());
  const std::string_view path = text.substr(0, question);
  address.path = without_dots(normalised(path.empty() ? "/" : path));
  address.query = question < text.size() ? normalised(text.substr(question + 1)) : "";
}

bool take_address(std::string_view text, Address& address) {
  if (!is_address_text(text)) return false;
  const std::string lower = lower_case(text.substr(0, 8));
  if (lower.starts_with("https://")) {
    text.remove_prefix(8);
  } else if (lower.starts_with("http://")) {
    address.is_https = false;
    text.remove_prefix(7);
  } else {
    return false;
  }
  const std::size_t end = std::min(text.find_first_of("/?#"), text.size());
  std::string_view authority = text.substr(0, end);
  const std::size_t at = authority.rfind('@');
  if (at != std::string_view::npos) {
    address.user_info = authority.substr(0, at);
    authority.remove_prefix(at + 1);
  }
  take_path(text.substr(end), address);
  return take_host(authority, address);
}

}  // namespace

std::string Address::site() const {
  return (is_https ? "https://" : "http://") + host + ":" + std::to_string(port);
}

std::string Address::url() const {
  const bool is_usual_port = port == (is_https ? 443 : 80);
  return (is_https ? "https://" : "http://") + host +
         (is_usual_port ? "" : ":" + std::to_string(port)) + path +
         (query.empty() ? "" : "?" + query);
}

std::string Address::shown() const {
  Address shown = *this;
  if (!shown.query.empty()) shown.query = "...";
  return shown.url();
}

bool Address::is_loopback() const noexcept {
  return host == "localhost" || host == "[::1]" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos);
}

bool is_address_text(std::string_view text) noexcept {
  return text.size() <= max_address_bytes && std::ranges::none_of(text, [](unsigned char c) {
           return c < 0x20 || c == 0x7f || c == '\\';
         });
}

Result<Address> parse_address(std::string_view text) {
  Address address;
  if (!take_address(text, address)) {
    // The text may hold a password: it is not repeated.
    return fail(Errc::reference_invalid, "address",
                "expected http://HOST/PATH or https://HOST/PATH, without control characters and "
                "backslashes");
  }
  return address;
}

std::optional<std::string_view> scheme_of(std::string_view location) noexcept {
  const std::size_t colon = location.find(':');
  if (colon == std::string_view::npos || colon > location.find_first_of("/?#")) return std::nullopt;
  return location.substr(0, colon);
}

std::optional<Address> resolve(const Address& base, std::string_view location) {
  if (!is_address_text(location)) return std::nullopt;
  Address target;
  bool is_address = true;
  if (scheme_of(location)) {
    is_address = take_address(location, target);
  } else if (location.starts_with("//")) {
    is_address = take_address((base.is_https ? "https:" : "http:") + std::string(location), target);
  } else {
    target = base;
    const std::string folder = base.path.substr(0, base.path.rfind('/') + 1);
    take_path(location.starts_with('/') ? std::string(location) : folder + std::string(location),
              target);
  }
  target.user_info.clear();
  return is_address ? std::optional(std::move(target)) : std::nullopt;
}

std::string encode_path(std::string_view path) {
  return encoded(path, [&](std::size_t at) { return is_plain(path[at]) && path[at] != '?'; });
}

std::string encode_value(std::string_view value) {
  constexpr std::string_view special = "!$&'()*+,;=:@/?";
  return encoded(value, [&](std::size_t at) {
    return is_plain(value[at]) && special.find(value[at]) == special.npos;
  });
}

std::string decode_percents(std::string_view text) {
  std::string decoded;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::optional<char> escape = escape_at(text, at);
    decoded += escape.value_or(text[at]);
    if (escape) at += 2;
  }
  return decoded;
}

bool is_safe_segment(std::string_view name) {
  if (name.empty() || name == "." || name == ".." || name.size() > 255 || !is_utf8(name))
    return false;
  // What can be shown only as an escape (controls of all kinds, invisible characters) names
  // nothing.
  if (escape(name) != name || name.find('/') != std::string_view::npos) return false;
  return lower_case(name).find("%2f") == std::string::npos;
}

bool is_safe_path(std::string_view path) {
  if (path.size() > 4096) return false;
  for (;;) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (!is_safe_segment(path.substr(0, end))) return false;
    if (end == path.size()) return true;
    path.remove_prefix(end + 1);
  }
}

bool is_sha256(std::string_view text) noexcept { return is_hexadecimal(text, 64); }

std::string parse_sha256(std::string_view text) {
  std::string digest = lower_case(text);
  return is_sha256(digest) ? digest : std::string();
}

std::string parse_digest(std::string_view text) {
  constexpr std::string_view algorithm = "sha256:";
  return text.starts_with(algorithm) ? parse_sha256(text.substr(algorithm.size())) : std::string();
}

}  // namespace ingot::remote
