// SPDX-License-Identifier: MIT
#include "tokenizer/vocabulary/prefix_table.hpp"

#include <algorithm>
#include <bit>

#include "base/siphash.hpp"

namespace ingot::tokenizer {
namespace {

/// The longest text for a walk through the trie; longer texts are worth a table.
constexpr std::size_t max_short_bytes = 64;
constexpr std::size_t step = 8;
/// Hashes are polynomials of a random number modulo this prime, 2^61 - 1.
constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;

std::uint64_t sum_of(std::uint64_t a, std::uint64_t b) noexcept {
  const std::uint64_t sum = a + b;
  return sum >= prime ? sum - prime : sum;
}

std::uint64_t product_of(std::uint64_t a, std::uint64_t b) noexcept {
  const WideProduct product = multiply_wide(a, b);
  return sum_of(product.low & prime, product.high << 3 | product.low >> 61);
}

std::uint64_t base() noexcept {
  static const std::uint64_t number = process_key().k0 % (prime - 256) + 256;
  return number;
}

/// powers()[i] is base() to the power of 2^i.
const std::array<std::uint64_t, 64>& powers() noexcept {
  static const std::array<std::uint64_t, 64> table = [] {
    std::array<std::uint64_t, 64> all;
    all[0] = base();
    for (std::size_t i = 1; i < all.size(); ++i) all[i] = product_of(all[i - 1], all[i - 1]);
    return all;
  }();
  return table;
}

std::uint64_t append(std::uint64_t hash, char byte) noexcept {
  return sum_of(product_of(hash, base()), std::uint64_t{static_cast<unsigned char>(byte)} + 1);
}

}  // namespace

HashedText::HashedText(std::string_view text) : text_(text) {
  sums_.reserve(text.size() / step + 1);
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i % step == 0) sums_.push_back(hash);
    hash = append(hash, text[i]);
  }
  if (text.size() % step == 0) sums_.push_back(hash);
}

std::uint64_t HashedText::before(std::size_t place) const noexcept {
  std::uint64_t hash = sums_[place / step];
  for (std::size_t i = place / step * step; i < place; ++i) hash = append(hash, text_[i]);
  return hash;
}

PrefixTable::PrefixTable(const TextList& list, const std::vector<std::uint32_t>& numbers) {
  std::vector<std::uint32_t> short_ones;
  std::vector<std::uint32_t> long_ones;
  for (const std::uint32_t number : numbers) {
    (list[number].size() <= max_short_bytes ? short_ones : long_ones).push_back(number);
  }
  short_ = Trie(list, short_ones);
  // The longest text that a prefix begins with is in the table when the prefix comes. Of equal
  // ones the first remains.
  std::ranges::stable_sort(long_ones, {},
                           [&](std::uint32_t number) { return list[number].size(); });
  for (const std::uint32_t number : long_ones) {
    const std::string_view text = list[number];
    max_bytes_ = text.size();
    const HashedText hashed(text);
    std::size_t prefix_bytes = 0;
    for (std::size_t bit = std::bit_floor(text.size()); bit != 0; bit /= 2) {
      if ((text.size() & bit) == 0) continue;
      prefix_bytes += bit;
      const Trie::Match best = prefix_bytes == text.size() ? Trie::Match{number, text.size()}
                                                           : longest_long(hashed, 0, prefix_bytes);
      long_.try_emplace(hashed.before(prefix_bytes), best);
    }
    long_begins_.set(static_cast<unsigned char>(text[0]));
  }
}

HashedText PrefixTable::hash(std::string_view text) const {
  return long_.empty() || text.size() <= max_short_bytes ? HashedText() : HashedText(text);
}

Trie::Match PrefixTable::longest(const TextList& list, std::string_view text,
                                 const HashedText& hashed, std::size_t begin,
                                 std::size_t end) const {
  const std::size_t max_bytes = end - begin;
  Trie::Match match;
  if (max_bytes > max_short_bytes && long_begins_.test(static_cast<unsigned char>(text[begin]))) {
    match = longest_long(hashed, begin, max_bytes);
  }
  if (match.number != Trie::no_text) return match;
  return short_.longest_prefix(list, text.substr(begin, max_bytes));
}

Trie::Match PrefixTable::longest_long(const HashedText& hashed, std::size_t begin,
                                      std::size_t max_bytes) const {
  Trie::Match best;
  const std::uint64_t before = hashed.before(begin);
  std::uint64_t power = 1;  // power of base() for the bytes found
  std::size_t found_bytes = 0;
  for (std::size_t bit = std::bit_floor(std::min(max_bytes, max_bytes_)); bit != 0; bit /= 2) {
    if (bit > max_bytes - found_bytes) continue;
    const std::uint64_t longer =
        product_of(power, powers()[static_cast<std::size_t>(std::countr_zero(bit))]);
    const std::uint64_t hash =
        sum_of(hashed.before(begin + found_bytes + bit), prime - product_of(before, longer));
    const auto entry = long_.find(hash);
    if (entry == long_.end()) continue;
    found_bytes += bit;
    power = longer;
    if (entry->second.number != Trie::no_text) best = entry->second;
  }
  return best;
}

}  // namespace ingot::tokenizer
