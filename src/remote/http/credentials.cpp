// SPDX-License-Identifier: MIT
#include "remote/http/credentials.hpp"

#include <algorithm>

#include "io/small_file.hpp"

namespace ingot::remote {
namespace {

constexpr std::uint64_t max_token_bytes = 4096;

/// The first word of a small file; empty if there is none.
std::string read_token(const std::string& path) {
  const std::string text = io::read_small_file(path, max_token_bytes);
  return text.substr(0, text.find_first_of("\r\n \t"));
}

}  // namespace

std::string find_hub_token(const std::string& token, const std::string& token_path,
                           const std::string& hub_home) {
  if (!token.empty()) return token;
  if (!token_path.empty()) return read_token(token_path);
  return hub_home.empty() ? std::string() : read_token(hub_home + "/token");
}

Result<void> check_header_line(std::string_view line) {
  const bool has_control = std::ranges::any_of(
      line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  const std::size_t colon = line.find(':');
  if (!has_control && colon != 0 && colon != std::string_view::npos) return {};
  return fail(Errc::reference_invalid, "header", "expected 'Name: value' without line ends");
}

void Credentials::add_given(const Address& address, std::string line) {
  lines_.emplace_back(address.site(), std::move(line));
}

void Credentials::add_secret(const Address& address, std::string line) {
  const bool has_line_end = line.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos;
  if (has_line_end || !(address.is_https || address.is_loopback())) return;
  lines_.emplace_back(address.site(), std::move(line));
}

void Credentials::append_lines(const Address& address, std::vector<std::string>& lines) const {
  for (const auto& [site, line] : lines_) {
    if (site == address.site()) lines.push_back(line);
  }
}

}  // namespace ingot::remote
