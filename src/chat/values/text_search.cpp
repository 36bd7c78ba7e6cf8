// SPDX-License-Identifier: MIT
#include "chat/values/text_search.hpp"

#include <cstdint>
#include <vector>

namespace ingot::chat {
namespace {

/// Comparing so few bytes at every place takes no longer than the search by Knuth, Morris and
/// Pratt.
constexpr std::size_t max_short_bytes = 16;

/// Finds a text as Knuth, Morris and Pratt do: no byte of the `count` bytes from `text` on is
/// looked at again after a mismatch. Iterators that go backwards search from the end.
template <class Iterator>
std::size_t find_long(Iterator text, std::size_t count, Iterator wanted, std::size_t size) {
  if (count < size) return std::string_view::npos;
  const auto wanted_at = [&](std::size_t i) { return wanted[static_cast<std::ptrdiff_t>(i)]; };
  // By the count of bytes that match: how many of them match where the text comes again.
  std::vector<std::uint32_t> again(size + 1, 0);
  const auto matched_by = [&](char next, std::size_t matched) {
    while (matched > 0 && wanted_at(matched) != next) matched = again[matched];
    return wanted_at(matched) == next ? matched + 1 : matched;
  };
  for (std::size_t i = 1; i < size; ++i) {
    again[i + 1] = static_cast<std::uint32_t>(matched_by(wanted_at(i), again[i]));
  }
  std::size_t matched = 0;
  for (std::size_t end = 1; end <= count; ++end, ++text) {
    matched = matched_by(*text, matched);
    if (matched == size) return end - size;
  }
  return std::string_view::npos;
}

}  // namespace

std::size_t find_text(std::string_view text, std::string_view wanted, std::size_t begin) {
  if (wanted.size() <= max_short_bytes || begin > text.size()) return text.find(wanted, begin);
  text.remove_prefix(begin);
  const std::size_t place = find_long(text.begin(), text.size(), wanted.begin(), wanted.size());
  return place == std::string_view::npos ? place : begin + place;
}

std::size_t find_last_text(std::string_view text, std::string_view wanted) {
  if (wanted.size() <= max_short_bytes) return text.rfind(wanted);
  const std::size_t place = find_long(text.rbegin(), text.size(), wanted.rbegin(), wanted.size());
  return place == std::string_view::npos ? place : text.size() - place - wanted.size();
}

std::size_t count_texts(std::string_view text, std::string_view wanted) {
  std::size_t count = 0;
  for (std::size_t at = find_text(text, wanted); at != std::string_view::npos;
       at = find_text(text, wanted, at + wanted.size())) {
    ++count;
  }
  return count;
}

}  // namespace ingot::chat
