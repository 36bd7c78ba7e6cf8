// SPDX-License-Identifier: MIT
#include "text/byte_count.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ingot/text.hpp>

#include "text/words.hpp"

namespace ingot::cli {
namespace {

/// The factors of the letters after the number.
std::optional<double> unit_of(std::string_view letters) {
  const std::string text = lower_case(letters);
  constexpr std::string_view prefixes = "kmgt";
  if (text.empty() || text == "b") return 1.0;
  const std::size_t power = prefixes.find(text[0]);
  if (power == std::string_view::npos) return std::nullopt;
  const std::string rest = text.substr(1);
  if (rest.empty() || rest == "b") return std::pow(1000.0, static_cast<double>(power + 1));
  if (rest == "i" || rest == "ib") return std::pow(1024.0, static_cast<double>(power + 1));
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> parse_byte_count(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  std::uint64_t whole = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, whole);
  if (error == std::errc() && digits == text.size() && whole > 0) return whole;
  const auto [number, length] = leading_decimal(text);
  if (length == 0 || digits == 0) return std::nullopt;
  const std::optional<double> unit = unit_of(text.substr(length));
  constexpr double max_bytes = 9e18;  // below 2^63
  if (!unit || number * *unit < 1.0 || number * *unit > max_bytes) return std::nullopt;
  return static_cast<std::uint64_t>(number * *unit);
}

}  // namespace ingot::cli
