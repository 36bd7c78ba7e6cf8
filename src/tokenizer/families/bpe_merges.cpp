// SPDX-License-Identifier: MIT
#include "tokenizer/families/bpe_merges.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "base/byte_order.hpp"
#include "tokenizer/vocabulary/byte_alphabet.hpp"
#include "tokenizer/vocabulary/text_walk.hpp"
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

/// The bytes of a number that are spaces have their highest bit set, up to the first one at least.
std::uint64_t mark_spaces(const char* eight_bytes) noexcept {
  // A space becomes 0, and the subtraction borrows there first.
  constexpr std::uint64_t ones = 0x0101'0101'0101'0101;
  const std::uint64_t bytes =
      load_little<std::uint64_t>(reinterpret_cast<const std::byte*>(eight_bytes)) ^ ones * ' ';
  return (bytes - ones) & ~bytes & ones * 0x80;
}

/// The end of the left symbol of a merge: the first space after its first byte; npos if there is
/// none.
std::size_t find_space(std::string_view merge, const char* memory_end) noexcept {
  if (memory_end - merge.data() < 17) return merge.find(' ', 1);
  const std::uint64_t low = mark_spaces(merge.data() + 1);
  const std::uint64_t high = mark_spaces(merge.data() + 9);
  if ((low | high) == 0) return merge.find(' ', 17);
  const int bit = low != 0 ? std::countr_zero(low) : 64 + std::countr_zero(high);
  const auto place = static_cast<std::size_t>(bit) / 8 + 1;
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
    // One vocabulary is known to have no merges.
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
  if (!result.add_all(merges)) {
    return fail(Errc::tokenizer_invalid, value->file_offset(), key, "merges of more than 4 GiB");
  }
  return result;
}

bool BpeMerges::add_all(const Array& merges) {
  std::array<Pending, batch_merges> batch;
  std::size_t count = 0;
  std::uint32_t rank = 0;
  const char* end = memory_end(merges);
  const auto key_of = [&](std::string_view symbol) {
    const TextKey key = data_->ids.key_of(symbol, end);
    data_->ids.prefetch(key.hash);
    return key;
  };
  const bool has_all = take_texts(merges, [&](std::string_view text) {
    const std::uint32_t own_rank = rank++;
    const std::size_t space = find_space(text, end);
    // An empty side is no symbol, so such a merge never happens.
    if (space == std::string_view::npos || space + 1 == text.size()) return has_odd_ = true;
    Pending& pending = batch[count];
    pending.left = key_of(text.substr(0, space));
    pending.right = key_of(text.substr(space + 1));
    pending.rank = own_rank;
    if (++count < batch.size()) return true;
    count = 0;
    return add(batch);
  });
  return has_all && add(std::span(batch).first(count));
}

bool BpeMerges::add(std::span<Pending> merges) {
  const TextMap& ids = data_->ids;
  for (const Pending& merge : merges) {
    ids.prefetch_text(data_->texts, merge.left.hash);
    ids.prefetch_text(data_->texts, merge.right.hash);
  }
  for (Pending& merge : merges) {
    merge.left_symbol = find_or_add(merge.left);
    merge.right_symbol = find_or_add(merge.right);
    // Most vocabularies number their tokens in the order of the merges that make them.
    merge.product = ++last_product_;
    if (!is_product(last_product_, merge.left, merge.right)) {
      merge.product = last_product_ = find_product(merge.left, merge.right);
    }
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
  return !is_full_;
}

void BpeMerges::add_byte_pair(const Pending& merge) {
  const SpeltByte last = last_byte(merge.left.text);
  const SpeltByte first = first_byte(merge.right.text);
  // A symbol of other characters is never reached.
  if (last.byte < 0 || first.byte < 0) return;
  const auto left = static_cast<unsigned char>(last.byte);
  const auto right = static_cast<unsigned char>(first.byte);
  byte_pairs_.add(left, right);
  const std::size_t size_bytes = merge.left.text.size() + merge.right.text.size();
  if (size_bytes == last.size_bytes + first.size_bytes) {
    byte_pairs_.add_join(left, right, {merge.rank, merge.product});
  }
  if (is_beyond_ascii(static_cast<char>(left))) {
    add_ends(merge.left.text.substr(0, merge.left.text.size() - last.size_bytes), left, right,
             merge.right.text.substr(first.size_bytes));
  }
}

void BpeMerges::add_ends(std::string_view before, unsigned char left, unsigned char right,
                         std::string_view after) {
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

std::uint32_t BpeMerges::find_extra(const TextKey& key) const noexcept {
  const std::uint32_t extra = extra_ids_.find(extra_texts_, key);
  if (extra == TextMap::not_found) return no_symbol;
  return extra + static_cast<std::uint32_t>(data_->texts.size());
}

std::uint32_t BpeMerges::add_extra(const TextKey& key) {
  const std::uint32_t known = find_extra(key);
  if (known != no_symbol) return known;
  is_full_ = is_full_ || key.text.size() > TextList::max_bytes - extra_texts_.total_bytes();
  if (is_full_) return no_symbol;
  extra_texts_.push_back(key);
  const auto extra = static_cast<std::uint32_t>(extra_texts_.size() - 1);
  extra_ids_.insert(extra_texts_, extra, key);
  return extra + static_cast<std::uint32_t>(data_->texts.size());
}

bool BpeMerges::is_product(std::uint32_t token, const TextKey& left,
                           const TextKey& right) const noexcept {
  if (token >= data_->texts.size() || !has_distinct_tokens_) return false;
  const std::string_view text = data_->texts[token];
  const std::size_t left_bytes = left.text.size();
  return text.size() == left_bytes + right.text.size() && TextList::has_at(text.data(), left) &&
         TextList::has_at(text.data() + left_bytes, right);
}

std::uint32_t BpeMerges::find_product(const TextKey& left, const TextKey& right) {
  product_.assign(left.text).append(right.text);
  return find_or_add(data_->ids.key_of(product_));
}

}  // namespace ingot::tokenizer
