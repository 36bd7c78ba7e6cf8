// SPDX-License-Identifier: MIT
#include "tokenizer/families/bpe_merges.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "base/byte_order.hpp"
#include "tokenizer/vocabulary/byte_alphabet.hpp"
#include "tokenizer/vocabulary/token_keys.hpp"

namespace ingot::tokenizer {
namespace {

/// Merges that are looked up together.
constexpr std::size_t batch_merges = 32;

/// The first character of a text that is not empty.
std::string_view first_character(std::string_view text) noexcept {
  return text.substr(0, character_bytes(text[0]));
}

/// A byte as a character of the alphabet of bytes spells it.
struct SpeltByte {
  int byte = -1;  ///< -1: the character stands for none
  std::size_t size_bytes = 1;
};

/// The byte that a character of two bytes stands for, if it is one.
SpeltByte spelt_by_pair(char lead, char second) noexcept {
  const auto high = static_cast<unsigned char>(lead);
  if ((high & 0xE0) != 0xC0 || !is_continuation(second)) return {};
  return {byte_of((high & 0x1FU) << 6 | (static_cast<unsigned char>(second) & 0x3FU)), 2};
}

/// The byte that the first character of a text stands for, which is not empty.
SpeltByte first_byte(std::string_view text) noexcept {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {byte_of(lead)};
  return text.size() < 2 ? SpeltByte() : spelt_by_pair(text[0], text[1]);
}

/// The byte that the last character of a text stands for, which is not empty.
SpeltByte last_byte(std::string_view text) noexcept {
  const auto last = static_cast<unsigned char>(text.back());
  if (last < 0x80) return {byte_of(last)};
  return text.size() < 2 ? SpeltByte() : spelt_by_pair(text[text.size() - 2], text.back());
}

/// Where the left symbol of a merge ends, which is not empty: at the first space after its first
/// byte; npos if there is none.
std::size_t find_space(std::string_view merge, const char* memory_end) noexcept {
  if (memory_end - merge.data() < 9) return merge.find(' ', 1);
  // Eight bytes at once: one that is a space becomes 0, and the subtraction borrows there first.
  constexpr std::uint64_t ones = 0x0101'0101'0101'0101;
  const std::uint64_t bytes =
      load_little<std::uint64_t>(reinterpret_cast<const std::byte*>(merge.data() + 1)) ^ ones * ' ';
  const std::uint64_t spaces = (bytes - ones) & ~bytes & ones * 0x80;
  if (spaces == 0) return merge.find(' ', 9);
  const auto place = static_cast<std::size_t>(std::countr_zero(spaces)) / 8 + 1;
  return place < merge.size() ? place : std::string_view::npos;
}

/// The last character of a text that is not empty.
std::string_view last_character(std::string_view text) noexcept {
  std::size_t begin = 0;
  for (std::size_t next = 0; next < text.size(); next += character_bytes(text[next])) begin = next;
  return text.substr(begin);
}

}  // namespace

Result<BpeMerges> BpeMerges::make(const Model& model, const VocabularyData& data) {
  const std::string key = token_key("merges");
  const Value* value = model.find(key);
  if (value == nullptr) {
    // One vocabulary is known to do without.
    if (data.pre_name == "kimi-k2") return BpeMerges(data, 0);
    return fail(Errc::key_not_found, key);
  }
  const Array merges = value->as_array();
  if (!value->is_array() || (!merges.empty() && merges.element_type() != ValueType::string)) {
    return fail(Errc::wrong_type, value->file_offset(), key, "it must be an array of strings");
  }
  if (merges.size() >= Join::no_rank) {
    return fail(Errc::tokenizer_invalid, value->file_offset(), key, "there are too many merges");
  }
  BpeMerges result(data, static_cast<std::size_t>(merges.size()));
  std::array<Pending, batch_merges> batch;
  std::size_t count = 0;
  std::uint32_t rank = 0;
  const auto too_long = [&] {
    return fail(Errc::tokenizer_invalid, value->file_offset(), key, "merges of more than 4 GiB");
  };
  const char* memory_end =
      reinterpret_cast<const char*>(merges.bytes().data()) + merges.bytes().size();
  for (const Value& merge : merges) {
    const std::string_view text = text_of(merge);
    const std::uint32_t own_rank = rank++;
    const std::size_t space = find_space(text, memory_end);
    // An empty side is no symbol, so such a merge never happens.
    if (space == std::string_view::npos || space + 1 == text.size()) continue;
    Pending& pending = batch[count];
    pending.left = data.ids.key_of(text.substr(0, space), memory_end);
    pending.right = data.ids.key_of(text.substr(space + 1), memory_end);
    pending.rank = own_rank;
    if (++count < batch.size()) continue;
    if (!result.add(batch)) return too_long();
    count = 0;
  }
  if (!result.add(std::span(batch).first(count))) return too_long();
  return result;
}

bool BpeMerges::add(std::span<Pending> merges) {
  const TextMap& ids = data_->ids;
  for (const Pending& merge : merges) {
    ids.prefetch(merge.left.hash);
    ids.prefetch(merge.right.hash);
  }
  for (const Pending& merge : merges) {
    ids.prefetch_text(data_->texts, merge.left.hash);
    ids.prefetch_text(data_->texts, merge.right.hash);
  }
  for (Pending& merge : merges) {
    if (!find_symbols(merge)) return false;
    pairs_.prefetch(merge.left_symbol, merge.right_symbol);
  }
  for (const Pending& merge : merges) {
    pairs_.insert(merge.left_symbol, merge.right_symbol, {merge.rank, merge.product});
    if (data_->is_byte_encoded()) {
      add_byte_pair(merge);
    } else {
      filter_.add(last_character(merge.left.text), first_character(merge.right.text));
    }
  }
  return true;
}

void BpeMerges::add_byte_pair(const Pending& merge) {
  const SpeltByte last = last_byte(merge.left.text);
  const SpeltByte first = first_byte(merge.right.text);
  // A symbol of other characters is never reached.
  if (last.byte < 0 || first.byte < 0) return;
  const auto left = static_cast<unsigned char>(last.byte);
  const auto right = static_cast<unsigned char>(first.byte);
  byte_pairs_.add(left, right);
  const std::string_view before(merge.left.text.data(), merge.left.text.size() - last.size_bytes);
  const std::string_view after(merge.right.text.data() + first.size_bytes,
                               merge.right.text.size() - first.size_bytes);
  if (before.empty() && after.empty()) {
    byte_pairs_.add_join(left, right, {merge.rank, merge.product});
  }
  if (!is_beyond_ascii(static_cast<char>(left))) return;
  const int before_left = before.empty() ? -1 : last_byte(before).byte;
  const int after_right = after.empty() ? -1 : first_byte(after).byte;
  const char bytes[] = {static_cast<char>(before_left), static_cast<char>(left),
                        static_cast<char>(right), static_cast<char>(after_right)};
  const char* begin = before.empty() ? bytes + 1 : bytes;
  filter_.add({begin, bytes + 2}, {bytes + 2, after.empty() ? 1U : 2U});
}

bool BpeMerges::may_join_ends(std::string_view text, std::size_t place) const noexcept {
  const char* at = text.data() + place;
  const auto may_join = [&](std::size_t left, std::size_t right) {
    return left <= place && right <= text.size() - place &&
           filter_.may_join({at - left, left}, {at, right});
  };
  return may_join(1, 2) || may_join(2, 1) || may_join(2, 2);
}

bool BpeMerges::find_symbols(Pending& merge) {
  const std::size_t size_bytes = merge.left.text.size() + merge.right.text.size();
  if (size_bytes * 2 > TextList::max_bytes - extra_texts_.total_bytes()) return false;
  merge.left_symbol = find_or_add(merge.left);
  merge.right_symbol = find_or_add(merge.right);
  merge.product = last_product_ = find_product(merge.left, merge.right);
  return true;
}

std::uint32_t BpeMerges::find(const TextKey& key) const noexcept {
  const std::uint32_t id = data_->ids.find(data_->texts, key);
  if (id != TextMap::not_found) return id;
  const std::uint32_t extra = extra_ids_.find(extra_texts_, key);
  if (extra == TextMap::not_found) return no_symbol;
  return extra + static_cast<std::uint32_t>(data_->texts.size());
}

std::uint32_t BpeMerges::find_or_add(const TextKey& key) {
  const std::uint32_t known = find(key);
  if (known != no_symbol) return known;
  extra_texts_.push_back(key.text);
  const auto extra = static_cast<std::uint32_t>(extra_texts_.size() - 1);
  extra_ids_.insert(extra_texts_, extra, key);
  return extra + static_cast<std::uint32_t>(data_->texts.size());
}

/// The symbol of left + right. Most vocabularies number their tokens in the order of the merges
/// that make them, so the next token is tried first.
std::uint32_t BpeMerges::find_product(const TextKey& left, const TextKey& right) {
  const std::uint32_t next = last_product_ + 1;
  if (has_distinct_tokens_ && next < data_->texts.size()) {
    const std::string_view text = data_->texts[next];
    if (text.size() == left.text.size() + right.text.size() &&
        TextList::has_at(text.data(), left) &&
        TextList::has_at(text.data() + left.text.size(), right)) {
      return next;
    }
  }
  product_.assign(left.text).append(right.text);
  return find_or_add(data_->ids.key_of(product_));
}

}  // namespace ingot::tokenizer
