// SPDX-License-Identifier: MIT
#include "tokenizer/vocabulary/text_map.hpp"

namespace ingot::tokenizer {

// At most two slots in three are used.
TextMap::TextMap(std::size_t expected_count) : slots_(expected_count + expected_count / 2 + 2) {}

void TextMap::insert(const TextList& list, std::uint32_t number, const TextKey& key) {
  if ((count_ + 1) * 3 > slots_.size() * 2) grow(list);
  for (std::size_t i = first_slot(key.hash);; i = next_slot(i)) {
    Slot& slot = slots_[i];
    if (slot.tag == no_tag) {
      slot = {number, tag_of(key.hash)};
      ++count_;
      return;
    }
    if (slot.tag == tag_of(key.hash) && list.is_equal(slot.number, key)) return;
  }
}

void TextMap::grow(const TextList& list) {
  LargeVector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  count_ = 0;
  for (const Slot& slot : old) {
    if (slot.tag != no_tag) insert(list, slot.number, key_of(list[slot.number]));
  }
}

}  // namespace ingot::tokenizer
