// SPDX-License-Identifier: MIT
#include "huggingface/import/general/size_label.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace ingot::huggingface {
namespace {

/// The count with two digits at least: "1.2K", "12K", "123K".
std::string rounded(double count) {
  struct Unit {
    double above;
    double factor;
    char letter;
  };
  constexpr std::array<Unit, 4> units = {
      {{1e12, 1e-12, 'T'}, {1e9, 1e-9, 'B'}, {1e6, 1e-6, 'M'}, {-1, 1e-3, 'K'}}};
  std::size_t i = 0;
  while (count <= units[i].above) ++i;
  const double scaled = count * units[i].factor;
  const double whole = std::nearbyint(scaled);
  const int decimals = whole < 1 ? 2 : whole < 10 ? 1 : 0;
  std::array<char, 64> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), scaled,
                                          std::chars_format::fixed, decimals);
  return std::string(text.data(), error == std::errc() ? end : text.data()) + units[i].letter;
}

}  // namespace

std::string size_label(const ParameterCounts& counts) {
  if (counts.expert_count <= 0) return rounded(std::abs(static_cast<double>(counts.total)));
  const double one =
      std::abs(static_cast<double>(counts.shared)) + std::abs(static_cast<double>(counts.expert));
  return std::to_string(counts.expert_count) + "x" + rounded(one);
}

}  // namespace ingot::huggingface
