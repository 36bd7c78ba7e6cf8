// SPDX-License-Identifier: MIT
#include "commands/view/request.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "text/words.hpp"

namespace ingot::cli {
namespace {

constexpr Refusal bad{400, "Bad Request"};
constexpr Refusal forbidden{403, "Forbidden"};
constexpr Refusal not_found{404, "Not Found"};
constexpr Refusal other_method{405, "Method Not Allowed"};

using Headers = std::map<std::string, std::string_view>;

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Reads "Name: value". False if that is no header, or one that is there already: two readers could
/// differ on which one counts.
bool read_header(std::string_view line, Headers& headers) {
  const std::size_t colon = line.find(':');
  if (colon == 0 || colon == std::string_view::npos) return false;
  std::string name(line.substr(0, colon));
  const bool is_name = std::all_of(name.begin(), name.end(), [](char& letter) {
    const auto code = static_cast<unsigned char>(letter);
    letter = static_cast<char>(std::tolower(code));
    return std::isalnum(code) != 0 || letter == '-' || letter == '_';
  });
  return is_name && headers.emplace(std::move(name), trimmed(line.substr(colon + 1))).second;
}

/// One range of bytes; nothing for several, which no one here asks for.
std::optional<ByteRange> read_range(std::string_view text) {
  constexpr std::string_view unit = "bytes=";
  if (!text.starts_with(unit)) return std::nullopt;
  text.remove_prefix(unit.size());
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view first = text.substr(0, dash);
  const std::string_view last = text.substr(dash + 1);
  const ByteRange range{parse_number<std::uint64_t>(first), parse_number<std::uint64_t>(last)};
  const bool is_plain = first.empty() == !range.first && last.empty() == !range.last;
  return is_plain && (range.first || range.last) ? std::optional(range) : std::nullopt;
}

/// Whether two texts are equal, in a time that does not tell how many of their characters are.
bool is_equal_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned differences = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    differences |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return differences == 0;
}

/// Whether the request comes from this page, or from a user who typed the address. A name that
/// another site had pointed here stands in `Host`; a page of another site shows in `Origin` and
/// `Sec-Fetch-Site`.
bool is_own(const Headers& headers, std::uint16_t port) {
  const auto host = headers.find("host");
  if (host == headers.end()) return false;
  // Browsers leave the usual port out.
  const std::string place = port == 80 ? "" : ":" + std::to_string(port);
  if (host->second != "127.0.0.1" + place && host->second != "localhost" + place) return false;
  const auto origin = headers.find("origin");
  if (origin != headers.end() && origin->second != "http://" + std::string(host->second)) {
    return false;
  }
  const auto site = headers.find("sec-fetch-site");
  return site == headers.end() || site->second == "same-origin" || site->second == "none";
}

}  // namespace

std::optional<Refusal> read_request(std::string_view head, const Gate& gate, Request& request) {
  Headers headers;
  std::string_view first_line;
  while (!head.empty()) {
    const std::size_t end = head.find("\r\n");
    if (end == std::string_view::npos) return bad;
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end + 2);
    const bool is_text = std::all_of(line.begin(), line.end(), [](char letter) {
      return (letter >= ' ' && letter != 0x7f) || letter == '\t';  // a negative char is no ASCII
    });
    if (!is_text) return bad;
    if (first_line.empty()) {
      first_line = line;
    } else if (!line.empty() && !read_header(line, headers)) {
      return bad;
    }
  }
  const std::size_t after_method = first_line.find(' ');
  const std::size_t after_target = first_line.rfind(' ');
  if (after_method == std::string_view::npos || after_target <= after_method) return bad;
  const std::string_view method = first_line.substr(0, after_method);
  const std::string_view version = first_line.substr(after_target + 1);
  std::string_view target = first_line.substr(after_method + 1, after_target - after_method - 1);
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return bad;
  if (target.find_first_of(" \t") != std::string_view::npos) return bad;
  if (headers.contains("content-length") || headers.contains("transfer-encoding")) return bad;
  if (!is_own(headers, gate.port)) return forbidden;
  if (method != "GET" && method != "HEAD") return other_method;

  if (!is_equal_secret(target.substr(0, gate.token.size() + 2), "/" + gate.token + "/")) {
    return not_found;
  }
  request.target = target.substr(gate.token.size() + 2);
  request.is_head = method == "HEAD";
  const auto connection = headers.find("connection");
  request.keeps_open =
      version == "HTTP/1.1" && (connection == headers.end() || connection->second != "close");
  const auto range = headers.find("range");
  if (range != headers.end()) {
    request.range = read_range(range->second);
    if (!request.range) return Refusal{416, "Range Not Satisfiable"};
  }
  return std::nullopt;
}

}  // namespace ingot::cli
