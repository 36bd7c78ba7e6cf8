// SPDX-License-Identifier: MIT
// Names that are equal ignoring case.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.hpp"
#include "base/siphash.hpp"

namespace ingot::check {

/// Calls report(name, other) for names that differ from another one only in their capitals. Names
/// are unique, so two of them collide only if one has a capital; exists(name) tests for one
/// without.
template <class Exists, class Report>
void find_case_collisions(const std::vector<std::string_view>& names, const Exists& exists,
                          const Report& report) {
  // Hashes, as the names themselves would be as large as the header. The key need not be secret:
  // what hashes alike is compared.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> hashed;
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    const std::string lower = lower_case(names[i]);
    if (lower == names[i]) continue;
    if (exists(lower)) report(names[i], lower);
    hashed.emplace_back(siphash_1_3(SipKey{}, lower), i);
  }
  std::ranges::sort(hashed);
  for (std::size_t i = 1; i < hashed.size(); ++i) {
    const std::string_view name = names[hashed[i].second];
    const std::string_view other = names[hashed[i - 1].second];
    if (hashed[i].first == hashed[i - 1].first && lower_case(name) == lower_case(other)) {
      report(name, other);
    }
  }
}

}  // namespace ingot::check
