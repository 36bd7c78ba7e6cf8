// SPDX-License-Identifier: MIT
// Names to positions in a table, in O(1) and one allocation.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/random_seed.hpp"
#include "base/siphash.hpp"

namespace ingot::format {

/// An open-addressing hash table over the names of a table that lives elsewhere. It stores
/// positions and hash bits only; `name_at(position)` gives a name. The hash is keyed with the
/// process's random seed, so that no file can choose names that collide.
class NameIndex {
 public:
  /// Makes room for `count` names, all that will ever be inserted. Throws std::bad_alloc.
  void reserve(std::size_t count) {
    // At most half full, and one slot is always free to end a search.
    slots_.assign(std::bit_ceil(2 * count + 1), 0);
    mask_ = slots_.size() - 1;
  }

  /// The hash of a name that will be inserted soon. Asks the cache for its slot, so that other work
  /// can be done while a large table is on its way.
  [[nodiscard]] std::uint64_t prepare(std::string_view name) const noexcept {
    const std::uint64_t hash = hash_of(name);
    __builtin_prefetch(&slots_[hash & mask_], 1);
    return hash;
  }

  /// Inserts the name of `position`, unless an equal name is there: then returns its position.
  template <class NameAt>
  [[nodiscard]] std::optional<std::uint32_t> insert(std::uint32_t position, NameAt&& name_at) {
    return insert(position, hash_of(name_at(position)), name_at);
  }

  /// The same with the hash that `prepare` gave.
  template <class NameAt>
  [[nodiscard]] std::optional<std::uint32_t> insert(std::uint32_t position, std::uint64_t hash,
                                                    NameAt&& name_at) {
    const std::string_view name = name_at(position);
    for (std::size_t slot = hash & mask_;; slot = (slot + 1) & mask_) {
      if (slots_[slot] == 0) {
        slots_[slot] = (hash & tag_mask) | (std::uint64_t{position} + 1);
        return std::nullopt;
      }
      if (matches(slots_[slot], hash) && name_at(position_of(slots_[slot])) == name) {
        return position_of(slots_[slot]);
      }
    }
  }

  /// The position of `name`, if it is there.
  template <class NameAt>
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name, NameAt&& name_at) const {
    if (slots_.empty()) return std::nullopt;
    const std::uint64_t hash = hash_of(name);
    for (std::size_t slot = hash & mask_; slots_[slot] != 0; slot = (slot + 1) & mask_) {
      if (matches(slots_[slot], hash) && name_at(position_of(slots_[slot])) == name) {
        return position_of(slots_[slot]);
      }
    }
    return std::nullopt;
  }

 private:
  // A slot is 0 if free, else the upper half of the hash beside the position + 1, so that names
  // are compared only where half a hash agrees.
  static constexpr std::uint64_t tag_mask = 0xFFFF'FFFF'0000'0000;

  [[nodiscard]] static std::uint64_t hash_of(std::string_view name) noexcept {
    return siphash_1_3(process_key(), name);
  }
  [[nodiscard]] static bool matches(std::uint64_t slot, std::uint64_t hash) noexcept {
    return ((slot ^ hash) & tag_mask) == 0;
  }
  [[nodiscard]] static std::uint32_t position_of(std::uint64_t slot) noexcept {
    return static_cast<std::uint32_t>(slot) - 1;
  }

  std::vector<std::uint64_t> slots_;
  std::size_t mask_ = 0;
};

}  // namespace ingot::format
