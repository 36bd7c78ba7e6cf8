// SPDX-License-Identifier: MIT
// The ids of words that a text has had before.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/tokenizer.hpp"
#include "tokenizer/vocabulary/hashing.hpp"

namespace ingot::tokenizer {

/// One slot for each hash; a new word takes the place of an old one. Lives as long as one call, so
/// it needs no lock.
class WordCache {
 public:
  /// Longer words are hardly ever seen twice.
  static constexpr std::size_t max_word_bytes = 128;

  /// A cache for a text; none at all for a short one, where it costs more than it saves.
  explicit WordCache(std::size_t text_bytes) {
    if (text_bytes >= smallest_text) {
      slots_.resize(std::bit_ceil(std::min(text_bytes / bytes_per_slot, max_slots)));
    }
  }

  [[nodiscard]] bool is_on() const noexcept { return !slots_.empty(); }

  /// A word and its place in the cache.
  struct Key {
    std::string_view word;
    ShortText text;  ///< Two numbers that stand for the word; those of its hash if it is long.
    std::size_t slot = 0;
  };
  [[nodiscard]] Key key(std::string_view word) const noexcept {
    Key result{.word = word, .text = {}};
    if (word.size() <= ShortText::max_bytes) {
      result.text = ShortText(word);
      result.slot = hasher_(result.text, word.size());
    } else {
      result.slot = hasher_(word);
      result.text.low = result.slot;
    }
    result.slot &= slots_.size() - 1;
    return result;
  }

  /// Appends the ids of the word, if it is here.
  [[nodiscard]] bool append(const Key& key, std::vector<TokenId>& ids) const {
    const Slot& slot = slots_[key.slot];
    if (!(slot.text == key.text) || slot.word_bytes != key.word.size()) return false;
    if (slot.word_bytes > ShortText::max_bytes &&
        std::string_view(words_).substr(slot.word, slot.word_bytes) != key.word) {
      return false;
    }
    if (slot.id_count == 1) {
      ids.push_back(static_cast<TokenId>(slot.first_id));
    } else {
      const auto first = ids_.begin() + static_cast<std::ptrdiff_t>(slot.first_id);
      ids.insert(ids.end(), first, first + slot.id_count);
    }
    return true;
  }

  void insert(const Key& key, std::span<const TokenId> ids) {
    if (words_.size() > max_pool || ids_.size() > max_pool) clear();
    Slot& slot = slots_[key.slot];
    slot.text = key.text;
    slot.word_bytes = static_cast<std::uint16_t>(key.word.size());
    slot.id_count = static_cast<std::uint16_t>(ids.size());
    if (key.word.size() > ShortText::max_bytes) {
      slot.word = static_cast<std::uint32_t>(words_.size());
      words_.append(key.word);
    }
    if (ids.size() == 1) {
      slot.first_id = static_cast<std::uint32_t>(ids.front());
    } else {
      slot.first_id = static_cast<std::uint32_t>(ids_.size());
      ids_.insert(ids_.end(), ids.begin(), ids.end());
    }
  }

 private:
  static constexpr std::size_t smallest_text = 512;
  static constexpr std::size_t bytes_per_slot = 16;
  static constexpr std::size_t max_slots = 16384;    // 512 KiB
  static constexpr std::size_t max_pool = 1U << 18;  // bytes of words; number of ids

  struct Slot {
    ShortText text;
    std::uint32_t word = 0;      // where a long word begins in words_
    std::uint32_t first_id = 0;  // the id if it is the only one, else where the ids begin in ids_
    std::uint16_t word_bytes = 0;
    std::uint16_t id_count = 0;
  };

  void clear() {
    std::ranges::fill(slots_, Slot());
    words_.clear();
    ids_.clear();
  }

  Hasher hasher_;
  std::vector<Slot> slots_;
  std::string words_;
  std::vector<TokenId> ids_;
};

}  // namespace ingot::tokenizer
