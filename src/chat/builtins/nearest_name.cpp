// SPDX-License-Identifier: MIT
#include <algorithm>
#include <vector>

#include "chat/builtins/builtins.hpp"

namespace ingot::chat {
namespace {

/// Names that are longer are not like any in a table.
constexpr std::size_t max_name_bytes = 32;

/// Letters to insert, drop or replace.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string hint_nearest(std::string_view name, std::span<const Builtin> table) {
  if (name.size() > max_name_bytes) return {};
  std::size_t least = name.size() / 3 + 1;  // a third of the letters may be wrong
  std::string_view nearest;
  for (const Builtin& row : table) {
    const std::size_t wrong = distance(name, row.name);
    if (wrong > least || wrong >= row.name.size() || (wrong == least && !nearest.empty())) continue;
    least = wrong;
    nearest = row.name;
  }
  return nearest.empty() ? std::string() : "; did you mean '" + std::string(nearest) + "'?";
}

}  // namespace ingot::chat
