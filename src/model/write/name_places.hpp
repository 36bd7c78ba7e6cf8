// SPDX-License-Identifier: MIT
// The index of the entries of a table by name.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "ingot/error.hpp"

namespace ingot {

/// Entries keep their places when others go, so that removing many is linear.
class NamePlaces {
 public:
  /// The place of a name, and whether it is new: then the place is `place`.
  std::pair<std::size_t, bool> add(std::string_view name, std::size_t place) {
    const auto [entry, is_new] = places_.try_emplace(std::string(name), place);
    return {entry->second, is_new};
  }

  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const {
    const auto entry = places_.find(std::string(name));
    return entry == places_.end() ? std::nullopt : std::optional(entry->second);
  }

  /// Forgets a name, and tells where its entry is.
  std::optional<std::size_t> remove(std::string_view name) {
    const auto entry = places_.extract(std::string(name));
    return entry.empty() ? std::nullopt : std::optional(entry.mapped());
  }

  /// Renames an entry and returns its index. Fails with `not_found` or Errc::name_taken.
  [[nodiscard]] Result<std::size_t> rename(std::string_view name, std::string_view new_name,
                                           Errc not_found) {
    const auto place = find(name);
    if (!place) return fail(not_found, std::string(name));
    if (name == new_name) return *place;
    if (!add(new_name, *place).second) return fail(Errc::name_taken, std::string(new_name));
    remove(name);
    return *place;
  }

  [[nodiscard]] std::size_t size() const noexcept { return places_.size(); }

 private:
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace ingot
