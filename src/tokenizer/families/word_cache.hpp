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

  /// The kind of a text with ids: a word may be a token as it is, while a part with the same bytes
  /// is merged.
  enum class Kind : std::uint8_t { word, part };
  /// A word and its place in the cache.
  struct Key {
    std::string_view word;
    ShortText text;  ///< Two numbers that stand for the word; those of its hash if it is long.
    std::uint32_t size_and_kind = 0;
    std::size_t slot = 0;
  };
  [[nodiscard]] Key key(std::string_view word, Kind kind = Kind::word) const noexcept {
    Key result{.word = word, .text = {}};
    result.size_and_kind =
        static_cast<std::uint32_t>(word.size() * 2) + static_cast<std::uint32_t>(kind);
    if (word.size() <= ShortText::max_bytes) {
      result.text = ShortText(word);
      result.slot = static_cast<std::size_t>(hasher_(result.text, result.size_and_kind));
    } else {
      result.text.low = hasher_(word);
      result.slot = static_cast<std::size_t>(result.text.low + result.size_and_kind);
    }
    result.slot &= slots_.size() - 1;
    return result;
  }

  /// Appends the ids of the word, if it is here.
  [[nodiscard]] bool append(const Key& key, std::vector<TokenId>& ids) const {
    const Slot& slot = slots_[key.slot];
    if (!(slot.text == key.text) || slot.size_and_kind != key.size_and_kind) return false;
    if (key.word.size() > ShortText::max_bytes &&
        std::string_view(words_).substr(slot.word, key.word.size()) != key.word) {
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
    slot.size_and_kind = key.size_and_kind;
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
    std::uint32_t word = 0;      // offset of a long word in words_
    std::uint32_t first_id = 0;  // the id if it is the only one, else where the ids begin in ids_
    std::uint32_t size_and_kind = 0;
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
