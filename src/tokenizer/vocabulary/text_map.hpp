// SPDX-License-Identifier: MIT
// Texts with consecutive numbers, and the number of a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/vocabulary/hashing.hpp"

namespace ingot::tokenizer {

/// Texts one after the other in one block of memory; their numbers count from 0.
class TextList {
 public:
  /// Bytes that the list can hold: offsets have 32 bits.
  static constexpr std::size_t max_bytes = 0xFFFF'FFFF;

  /// Room for so many texts of so many bytes in all; more may follow.
  void reserve(std::size_t count, std::size_t size_bytes) {
    ends_.reserve(count);
    bytes_.reserve(size_bytes);
  }
  /// The text must fit: total_bytes() + text.size() <= max_bytes.
  void push_back(std::string_view text) {
    bytes_.append(text);
    ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  }
  [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }
  [[nodiscard]] std::size_t total_bytes() const noexcept { return bytes_.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t index) const noexcept {
    const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
    return std::string_view(bytes_).substr(begin, ends_[index] - begin);
  }
  /// Asks for the memory of a text.
  void prefetch(std::size_t index) const noexcept {
    __builtin_prefetch(bytes_.data() + (index == 0 ? 0 : ends_[index - 1]));
  }

 private:
  std::string bytes_;
  std::vector<std::uint32_t> ends_;
};

/// Finds the number of a text in a TextList. Open addressing; a slot is a number and 32 bits of the
/// hash, so that a text that is not there seldom costs a look at the list.
class TextMap {
 public:
  static constexpr std::uint32_t not_found = 0xFFFF'FFFF;

  TextMap() = default;
  explicit TextMap(std::size_t expected_count);

  [[nodiscard]] std::uint64_t hash_of(std::string_view text) const noexcept {
    return hasher_(text);
  }
  /// The number of `text`; not_found if it is not there.
  [[nodiscard]] std::uint32_t find(const TextList& list, std::string_view text) const noexcept {
    return find(list, text, hash_of(text));
  }
  [[nodiscard]] std::uint32_t find(const TextList& list, std::string_view text,
                                   std::uint64_t hash) const noexcept {
    for (std::size_t i = first_slot(hash);; i = next_slot(i)) {
      const Slot& slot = slots_[i];
      if (slot.number == not_found) return not_found;
      if (slot.tag == tag_of(hash) && list[slot.number] == text) return slot.number;
    }
  }
  /// Asks for the memory that `find` and `insert` look at first.
  void prefetch(std::uint64_t hash) const noexcept {
    __builtin_prefetch(&slots_[first_slot(hash)]);
  }
  /// Asks for the memory of the text that they compare, when the slot is there.
  void prefetch_text(const TextList& list, std::uint64_t hash) const noexcept {
    const Slot& slot = slots_[first_slot(hash)];
    if (slot.tag == tag_of(hash) && slot.number != not_found) list.prefetch(slot.number);
  }
  /// Adds list[number], whose hash is given, unless an equal text is there.
  void insert(const TextList& list, std::uint32_t number, std::uint64_t hash);

  /// How many different texts there are.
  [[nodiscard]] std::size_t size() const noexcept { return count_; }

 private:
  struct Slot {
    std::uint32_t number = not_found;
    std::uint32_t tag = 0;
  };
  [[nodiscard]] static std::uint32_t tag_of(std::uint64_t hash) noexcept {
    return static_cast<std::uint32_t>(hash >> 32);
  }
  /// The low half of the hash as a share of the slots: any number of them will do, where a power of
  /// two could be twice as many as are needed.
  [[nodiscard]] std::size_t first_slot(std::uint64_t hash) const noexcept {
    return static_cast<std::size_t>((hash & 0xFFFF'FFFF) * slots_.size() >> 32);
  }
  [[nodiscard]] std::size_t next_slot(std::size_t slot) const noexcept {
    return slot + 1 == slots_.size() ? 0 : slot + 1;
  }
  void grow(const TextList& list);

  Hasher hasher_;
  std::vector<Slot> slots_ = std::vector<Slot>(2);
  std::size_t count_ = 0;
};

}  // namespace ingot::tokenizer
