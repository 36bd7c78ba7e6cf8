// SPDX-License-Identifier: MIT
#include "commands/edit/special_token_names.hpp"

#include <algorithm>
#include <array>
#include <ingot/metadata_keys.hpp>
#include <string_view>

namespace ingot::cli {
namespace {

/// Other words for the roles of special tokens. "seperator" is the spelling in the keys of the
/// format.
struct RoleName {
  std::string_view name;
  std::string_view role;
};
constexpr std::array other_role_names = {
    RoleName{"unk", "unknown"},
    RoleName{"separator", "seperator"},
    RoleName{"sep", "seperator"},
    RoleName{"pad", "padding"},
};

}  // namespace

std::vector<std::string> special_token_names() {
  std::vector<std::string> names;
  for (const MetadataKeyInfo& key : standard_keys) {
    if (!token_role(key.name).empty()) names.emplace_back(token_role(key.name));
  }
  for (const RoleName& row : other_role_names) names.emplace_back(row.name);
  return names;
}

std::string special_token_key(const std::string& name) {
  const auto other = std::find_if(other_role_names.begin(), other_role_names.end(),
                                  [&](const RoleName& row) { return row.name == name; });
  const std::string key = token_id_key(other == other_role_names.end() ? name : other->role);
  return find_key(key, {}) == nullptr ? std::string() : key;
}

}  // namespace ingot::cli
