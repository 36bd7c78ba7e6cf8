// SPDX-License-Identifier: MIT
// Texts with consecutive numbers, and the number of a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/large_pages.hpp"
#include "tokenizer/vocabulary/hashing.hpp"

namespace ingot::tokenizer {

/// A text, prepared for a look-up.
struct TextKey {
  std::string_view text;
  ShortText short_text;  ///< Set if the text has at most ShortText::max_bytes.
  std::uint64_t hash = 0;
};

/// Texts one after the other in one block of memory; their numbers count from 0.
class TextList {
 public:
  /// Bytes that the list can hold: offsets have 32 bits.
  static constexpr std::size_t max_bytes = 0xFFFF'FFFF;

  /// Makes room for `count` texts of `size_bytes` in all; more may follow.
  void reserve(std::size_t count, std::size_t size_bytes) {
    begins_.reserve(count + 1);
    bytes_.resize(size_bytes + ShortText::max_bytes);
  }
  /// The text must fit: total_bytes() + text.size() <= max_bytes.
  void push_back(std::string_view text) { text.copy(add_place(text.size()), text.size()); }
  void push_back(const TextKey& key) {
    if (key.text.size() > ShortText::max_bytes) return push_back(key.text);
    key.short_text.store_at(add_place(key.text.size()));
  }
  [[nodiscard]] std::size_t size() const noexcept { return begins_.size() - 1; }
  [[nodiscard]] std::size_t total_bytes() const noexcept { return begins_.back(); }
  [[nodiscard]] std::string_view operator[](std::size_t index) const noexcept {
    return {bytes_.data() + begins_[index], begins_[index + 1] - begins_[index]};
  }
  /// The end of the memory of the texts: ShortText::max_bytes can be read from each of them.
  [[nodiscard]] const char* memory_end() const noexcept { return bytes_.data() + bytes_.size(); }
  /// Whether a text of this list has the text of a key at a place where it has as many bytes.
  [[nodiscard]] static bool has_at(const char* place, const TextKey& key) noexcept {
    const std::size_t size = key.text.size();
    if (size > ShortText::max_bytes) return std::string_view(place, size) == key.text;
    return ShortText::first_of(place, size) == key.short_text;
  }
  [[nodiscard]] bool is_equal(std::size_t index, const TextKey& key) const noexcept {
    const std::string_view text = (*this)[index];
    return text.size() == key.text.size() && has_at(text.data(), key);
  }
  /// Asks for the memory of a text.
  void prefetch(std::size_t index) const noexcept {
    __builtin_prefetch(bytes_.data() + begins_[index]);
  }

 private:
  /// Makes room for one more text; returns where it is.
  char* add_place(std::size_t size_bytes) {
    const std::size_t begin = total_bytes();
    const std::size_t end = begin + size_bytes;
    if (end + ShortText::max_bytes > bytes_.size()) bytes_.resize(end + ShortText::max_bytes);
    begins_.push_back(static_cast<std::uint32_t>(end));
    return bytes_.data() + begin;
  }

  LargeVector<char> bytes_;                  // ShortText::max_bytes always follow the last text
  std::vector<std::uint32_t> begins_ = {0};  // begin of each text and of the bytes after the last
};

/// Finds the number of a text in a TextList. Open addressing; a slot is a number and 32 bits of the
/// hash, so that a text that is not there seldom costs a look at the list.
class TextMap {
 public:
  static constexpr std::uint32_t not_found = 0xFFFF'FFFF;

  TextMap() = default;
  explicit TextMap(std::size_t expected_count);

  /// The key of a text in memory that can be read up to `memory_end`.
  [[nodiscard]] TextKey key_of(std::string_view text, const char* memory_end) const noexcept {
    if (text.size() > ShortText::max_bytes) return {text, {}, hasher_(text)};
    const bool has_room = memory_end - text.data() >= std::ptrdiff_t{ShortText::max_bytes};
    const ShortText short_text =
        has_room ? ShortText::first_of(text.data(), text.size()) : ShortText(text);
    return {text, short_text, hasher_(short_text, text.size())};
  }
  [[nodiscard]] TextKey key_of(std::string_view text) const noexcept {
    return key_of(text, text.data() + text.size());
  }
  /// The number of `text`; not_found if it is not there.
  [[nodiscard]] std::uint32_t find(const TextList& list, std::string_view text) const noexcept {
    return find(list, key_of(text));
  }
  [[nodiscard]] std::uint32_t find(const TextList& list, const TextKey& key) const noexcept {
    for (std::size_t i = first_slot(key.hash);; i = next_slot(i)) {
      const Slot& slot = slots_[i];
      if (slot.tag == tag_of(key.hash) && list.is_equal(slot.number, key)) return slot.number;
      if (slot.tag == no_tag) return not_found;
    }
  }
  /// Asks for the memory that `find` and `insert` look at first.
  void prefetch(std::uint64_t hash) const noexcept {
    __builtin_prefetch(&slots_[first_slot(hash)]);
  }
  /// Asks for the memory of the text that they compare first, when the slot is there. The list must
  /// not be empty.
  void prefetch_text(const TextList& list, std::uint64_t hash) const noexcept {
    list.prefetch(slots_[first_slot(hash)].number);
  }
  /// Adds list[number], whose key is given, unless an equal text is there.
  void insert(const TextList& list, std::uint32_t number, const TextKey& key);

  /// The number of different texts.
  [[nodiscard]] std::size_t size() const noexcept { return count_; }

 private:
  static constexpr std::uint32_t no_tag = 0;  // tag of an empty slot
  struct Slot {
    std::uint32_t number = 0;
    std::uint32_t tag = no_tag;
  };
  [[nodiscard]] static std::uint32_t tag_of(std::uint64_t hash) noexcept {
    return static_cast<std::uint32_t>(hash >> 32) | 1;
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
  LargeVector<Slot> slots_ = LargeVector<Slot>(2);
  std::size_t count_ = 0;
};

}  // namespace ingot::tokenizer
