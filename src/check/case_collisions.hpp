// SPDX-License-Identifier: MIT
// Names that are one name to whoever does not tell upper case from lower.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.hpp"

namespace ingot::check {

/// Calls report(name, other) for names that differ from another one only in their capitals. Names
/// are unique, so two of them collide only if one has a capital; exists(name) says whether there is
/// one without.
template <class Exists, class Report>
void find_case_collisions(const std::vector<std::string_view>& names, const Exists& exists,
                          const Report& report) {
  std::vector<std::pair<std::string, std::string_view>> sorted;
  for (const std::string_view name : names) {
    std::string lower = lower_case(name);
    if (lower == name) continue;
    if (exists(lower)) report(name, lower);
    sorted.emplace_back(std::move(lower), name);
  }
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].first == sorted[i - 1].first) report(sorted[i].second, sorted[i - 1].second);
  }
}

}  // namespace ingot::check
