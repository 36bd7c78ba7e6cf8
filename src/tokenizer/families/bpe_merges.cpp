// SPDX-License-Identifier: MIT
#include "tokenizer/families/bpe_merges.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "tokenizer/vocabulary/byte_alphabet.hpp"
#include "tokenizer/vocabulary/token_keys.hpp"

namespace ingot::tokenizer {
namespace {

/// Merges that are looked up together.
constexpr std::size_t batch_merges = 16;

/// The first character of a text that is not empty.
std::string_view first_character(std::string_view text) noexcept {
  return text.substr(0, character_bytes(text[0]));
}

/// The last character of a text that is not empty, if it stands for a byte: those have one or two
/// bytes of UTF-8.
std::string_view last_spelt_byte(std::string_view text) noexcept {
  const std::size_t size = is_continuation(text.back()) ? 2 : 1;
  return text.substr(text.size() - std::min(size, text.size()));
}

/// The byte that a character stands for; -1 if it stands for none.
int spelt_byte(std::string_view character) noexcept {
  const auto unit = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return unit(0) < 0x80 ? byte_of(unit(0)) : -1;
  const bool is_pair =
      character.size() == 2 && (unit(0) & 0xE0) == 0xC0 && is_continuation(character[1]);
  return is_pair ? byte_of((unit(0) & 0x1FU) << 6 | (unit(1) & 0x3FU)) : -1;
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
  std::vector<Pending> batch;
  batch.reserve(batch_merges);
  std::uint32_t rank = 0;
  const auto too_long = [&] {
    return fail(Errc::tokenizer_invalid, value->file_offset(), key, "merges of more than 4 GiB");
  };
  for (const Value& merge : merges) {
    INGOT_TRY(const std::string_view text, merge.get<std::string_view>());
    const std::uint32_t own_rank = rank++;
    const std::size_t space = text.find(' ', 1);
    // An empty side is no symbol, so such a merge never happens.
    if (space == std::string_view::npos || space + 1 == text.size()) continue;
    batch.push_back(
        {.left = text.substr(0, space), .right = text.substr(space + 1), .rank = own_rank});
    if (batch.size() < batch_merges) continue;
    if (!result.add(batch)) return too_long();
    batch.clear();
  }
  if (!result.add(batch)) return too_long();
  return result;
}

bool BpeMerges::add(std::span<Pending> merges) {
  const TextMap& ids = data_->ids;
  for (Pending& merge : merges) {
    merge.left_hash = ids.hash_of(merge.left);
    merge.right_hash = ids.hash_of(merge.right);
    ids.prefetch(merge.left_hash);
    ids.prefetch(merge.right_hash);
  }
  for (const Pending& merge : merges) {
    ids.prefetch_text(data_->texts, merge.left_hash);
    ids.prefetch_text(data_->texts, merge.right_hash);
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
      filter_.add(last_character(merge.left), first_character(merge.right));
    }
  }
  return true;
}

void BpeMerges::add_byte_pair(const Pending& merge) {
  const std::string_view last = last_spelt_byte(merge.left);
  const std::string_view first = first_character(merge.right);
  const int left = spelt_byte(last);
  const int right = spelt_byte(first);
  // A symbol of other characters is never reached.
  if (left < 0 || right < 0) return;
  byte_pairs_.add(static_cast<unsigned char>(left), static_cast<unsigned char>(right));
  if (is_beyond_ascii(static_cast<char>(left))) add_ends(merge.left, merge.right);
  if (last.size() != merge.left.size() || first.size() != merge.right.size()) return;
  byte_pairs_.add_join(static_cast<unsigned char>(left), static_cast<unsigned char>(right),
                       {merge.rank, merge.product});
}

void BpeMerges::add_ends(std::string_view left, std::string_view right) {
  const std::string_view last = last_spelt_byte(left);
  const std::string_view first = first_character(right);
  left.remove_suffix(last.size());
  right.remove_prefix(first.size());
  const int before = left.empty() ? -1 : spelt_byte(last_spelt_byte(left));
  const int after = right.empty() ? -1 : spelt_byte(first_character(right));
  const char bytes[] = {static_cast<char>(before), static_cast<char>(spelt_byte(last)),
                        static_cast<char>(spelt_byte(first)), static_cast<char>(after)};
  const std::string_view all(bytes, sizeof bytes);
  filter_.add(left.empty() ? all.substr(1, 1) : all.substr(0, 2),
              all.substr(2, right.empty() ? 1 : 2));
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
  const std::size_t size_bytes = merge.left.size() + merge.right.size();
  if (size_bytes * 2 > TextList::max_bytes - extra_texts_.total_bytes()) return false;
  merge.left_symbol = find_or_add(merge.left, merge.left_hash);
  merge.right_symbol = find_or_add(merge.right, merge.right_hash);
  merge.product = last_product_ = find_product(merge.left, merge.right);
  return true;
}

std::uint32_t BpeMerges::find(std::string_view text, std::uint64_t hash) const noexcept {
  const std::uint32_t id = data_->ids.find(data_->texts, text, hash);
  if (id != TextMap::not_found) return id;
  const std::uint32_t extra = extra_ids_.find(extra_texts_, text, hash);
  if (extra == TextMap::not_found) return no_symbol;
  return extra + static_cast<std::uint32_t>(data_->texts.size());
}

std::uint32_t BpeMerges::find_or_add(std::string_view text, std::uint64_t hash) {
  const std::uint32_t known = find(text, hash);
  if (known != no_symbol) return known;
  extra_texts_.push_back(text);
  const auto extra = static_cast<std::uint32_t>(extra_texts_.size() - 1);
  extra_ids_.insert(extra_texts_, extra, hash);
  return extra + static_cast<std::uint32_t>(data_->texts.size());
}

/// The symbol of left + right. Most vocabularies number their tokens in the order of the merges
/// that make them, so the next token is tried first.
std::uint32_t BpeMerges::find_product(std::string_view left, std::string_view right) {
  const std::uint32_t next = last_product_ + 1;
  if (has_distinct_tokens_ && next < data_->texts.size()) {
    const std::string_view text = data_->texts[next];
    if (text.size() == left.size() + right.size() && text.starts_with(left) &&
        text.ends_with(right)) {
      return next;
    }
  }
  product_.assign(left).append(right);
  return find_or_add(product_, data_->ids.hash_of(product_));
}

}  // namespace ingot::tokenizer
