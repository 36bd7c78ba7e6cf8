// SPDX-License-Identifier: MIT
#include "digest/xet_tree.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/hexadecimal.hpp"

namespace ingot {
namespace {

// The key of all nodes but chunks; xet-core has it as bytes.
constexpr digest::Blake3Words node_key = {0xc7c57e01, 0x962947a5, 0x666694fd, 0xe6028ab4,
                                          0x6f53dd5d, 0xd26dc737, 0xe65263f8, 0x3f71534a};

// Digits of a hash, " : ", at most 20 digits of a size, and a line feed.
constexpr std::size_t most_line_bytes = 64 + 3 + 20 + 1;

char* write_digits(char* to, const XetHash& hash) noexcept {
  for (const std::uint64_t number : hash.numbers) {
    for (int shift = 60; shift >= 0; shift -= 4) *to++ = hexadecimal_digits[number >> shift & 15];
  }
  return to;
}

}  // namespace

XetHash xet_hash_of(const digest::Blake3Words& words) noexcept {
  XetHash hash;
  for (std::size_t i = 0; i < hash.numbers.size(); ++i) {
    hash.numbers[i] = words[2 * i] | std::uint64_t{words[2 * i + 1]} << 32;
  }
  return hash;
}

std::string name_of(const XetHash& hash) {
  std::string digits(64, '0');
  write_digits(digits.data(), hash);
  return digits;
}

std::optional<XetHash> parse_xet_hash(std::string_view digits) {
  if (!is_hexadecimal(digits, 64)) return std::nullopt;
  XetHash hash;
  for (std::size_t i = 0; i < hash.numbers.size(); ++i) {
    const char* first = digits.data() + 16 * i;
    std::from_chars(first, first + 16, hash.numbers[i], 16);
  }
  return hash;
}

void XetTree::add(std::size_t level, const XetChunk& node) noexcept {
  Level& group = levels_[level];
  group.nodes[group.count++] = node;
  const bool ends_group = group.count >= least_group && node.hash.numbers[3] % 4 == 0;
  if (ends_group || group.count == most_group) close_group(level);
}

/// The parent's hash is that of a text with a line for each node: its digits, " : ", its size.
void XetTree::close_group(std::size_t level) noexcept {
  Level& group = levels_[level];
  std::array<char, most_group * most_line_bytes> text;
  char* end = text.data();
  XetChunk parent;
  for (const XetChunk& node : std::span(group.nodes).first(group.count)) {
    end = write_digits(end, node.hash);
    end = std::ranges::copy(std::string_view(" : "), end).out;
    end = std::to_chars(end, text.data() + text.size(), node.size_bytes).ptr;
    *end++ = '\n';
    parent.size_bytes += node.size_bytes;
  }
  parent.hash =
      xet_hash_of(digest::keyed_blake3(node_key, std::as_bytes(std::span(text.data(), end))));
  group.count = 0;
  group.has_groups = true;
  add(level + 1, parent);
}

XetHash XetTree::finish() noexcept {
  std::size_t level = 0;
  for (; levels_[level].has_groups || levels_[level].count > 1; ++level) {
    if (levels_[level].count > 0) close_group(level);
    levels_[level].has_groups = false;
  }
  return std::exchange(levels_[level].count, 0) == 0 ? XetHash() : levels_[level].nodes[0].hash;
}

XetHash xorb_hash(std::span<const XetChunk> chunks) {
  XetTree tree;
  for (const XetChunk& chunk : chunks) tree.add(chunk);
  return tree.finish();
}

}  // namespace ingot
