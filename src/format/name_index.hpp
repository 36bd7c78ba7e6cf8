// SPDX-License-Identifier: MIT
// Names to positions in a table, in O(1) and one allocation.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/checked.hpp"
#include "base/siphash.hpp"

namespace ingot::format {

/// An open-addressing hash table over names that are stored elsewhere. It stores only positions and
/// hash bits; `name_at(position)` gives a name. The hash is keyed with the random seed of the
/// process, so that no file can choose names that collide.
class NameIndex {
 public:
  /// Makes room for `count` names; no more may be inserted. Throws std::bad_alloc.
  void reserve(std::size_t count) {
    // The table is at most half full, so one slot is always free to end a search.
    slots_.assign(std::bit_ceil(2 * count + 1), 0);
    mask_ = slots_.size() - 1;
  }

  /// The hash of a name that will be inserted soon. Prefetches its slot, so that the caller can do
  /// other work while memory responds.
  [[nodiscard]] std::uint64_t prepare(std::string_view name) const noexcept {
    const std::uint64_t hash = hash_of(name);
    __builtin_prefetch(&slots_[to_size(hash & mask_)], 1);
    return hash;
  }

  /// Inserts the name of `position`. If an equal name is there, returns its position instead.
  template <class NameAt>
  [[nodiscard]] std::optional<std::uint32_t> insert(std::uint32_t position, NameAt&& name_at) {
    return insert(position, hash_of(name_at(position)), name_at);
  }

  /// Inserts a name with the hash that `prepare` gave.
  template <class NameAt>
  [[nodiscard]] std::optional<std::uint32_t> insert(std::uint32_t position, std::uint64_t hash,
                                                    NameAt&& name_at) {
    const std::string_view name = name_at(position);
    for (std::size_t slot = to_size(hash & mask_);; slot = (slot + 1) & mask_) {
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
    for (std::size_t slot = to_size(hash & mask_); slots_[slot] != 0; slot = (slot + 1) & mask_) {
      if (matches(slots_[slot], hash) && name_at(position_of(slots_[slot])) == name) {
        return position_of(slots_[slot]);
      }
    }
    return std::nullopt;
  }

 private:
  // A slot is 0 if free. Otherwise it holds the upper half of the hash beside the position + 1, and
  // names are compared only if these halves are equal.
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
