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
  const LenientCharacter decoded = decode_lenient(character);
  return decoded.size_bytes == character.size() ? byte_of(decoded.code_point) : -1;
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
  for (const Pending& merge : merges) {
    data_->ids.prefetch(merge.left);
    data_->ids.prefetch(merge.right);
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
  if (last.size() != merge.left.size() || first.size() != merge.right.size()) return;
  byte_pairs_.add_join(static_cast<unsigned char>(left), static_cast<unsigned char>(right),
                       {merge.rank, merge.product});
}

bool BpeMerges::find_symbols(Pending& merge) {
  const std::size_t size_bytes = merge.left.size() + merge.right.size();
  if (size_bytes * 2 > TextList::max_bytes - extra_texts_.total_bytes()) return false;
  merge.left_symbol = find_or_add(merge.left);
  merge.right_symbol = find_or_add(merge.right);
  merge.product = last_product_ = find_product(merge.left, merge.right);
  return true;
}

std::uint32_t BpeMerges::find(std::string_view text) const noexcept {
  const TokenId id = data_->find(text);
  if (id != no_token) return static_cast<std::uint32_t>(id);
  const std::uint32_t extra = extra_ids_.find(extra_texts_, text);
  if (extra == TextMap::not_found) return no_symbol;
  return extra + static_cast<std::uint32_t>(data_->texts.size());
}

std::uint32_t BpeMerges::find_or_add(std::string_view text) {
  const std::uint32_t known = find(text);
  if (known != no_symbol) return known;
  extra_texts_.push_back(text);
  const auto extra = static_cast<std::uint32_t>(extra_texts_.size() - 1);
  extra_ids_.insert(extra_texts_, extra);
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
  return find_or_add(product_);
}

}  // namespace ingot::tokenizer
