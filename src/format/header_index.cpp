// SPDX-License-Identifier: MIT
#include "format/header_index.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <functional>

#include "format/cursor.hpp"
#include "format/magic.hpp"
#include "ingot/metadata.hpp"

namespace ingot::format {
namespace {

/// Whether an index describes a header that can exist.
bool makes_sense(const LayoutIndex& index, std::uint64_t first_key_offset,
                 const ParseOptions& options) {
  const std::uint64_t most_bytes = std::min(options.file_bytes, options.limits.max_header_bytes);
  const std::vector<std::uint64_t>& offsets = index.key_offsets;
  const bool is_ascending =
      std::adjacent_find(offsets.begin(), offsets.end(), std::greater_equal<>()) == offsets.end();
  return !offsets.empty() && offsets.front() == first_key_offset && is_ascending &&
         offsets.back() < index.infos_offset && index.infos_offset <= most_bytes &&
         index.infos_bytes <= most_bytes - index.infos_offset &&
         index.data_offset >= index.infos_end();
}

}  // namespace

std::vector<std::uint64_t> elements_of(const LayoutIndex& index, std::size_t room) {
  std::vector<std::uint64_t> elements = {layout_index_version, index.infos_offset,
                                         index.infos_bytes, index.infos_hash, index.data_offset};
  elements.insert(elements.end(), index.key_offsets.begin(), index.key_offsets.end());
  elements.resize(elements.size() + room, 0);
  return elements;
}

FoundIndex find_index(std::span<const std::byte> prefix, const ParseOptions& options) {
  FoundIndex found;
  Cursor cursor(prefix, options.file_bytes);
  const Result<Magic> magic = read_magic(cursor);
  if (!magic) return found;
  const detail::ValueEncoding encoding = encoding_of(magic->version, magic->byte_order);
  if (encoding.has_narrow_counts) return found;  // such a file has no 64-bit values
  cursor.set_swapped(encoding.is_swapped);
  static_cast<void>(cursor.count());
  const std::uint64_t key_count = cursor.count();
  const std::uint64_t first_key_offset = cursor.position();
  if (cursor.count() != layout_index_key.size() ||
      cursor.take_text(layout_index_key.size()) != layout_index_key) {
    return found;
  }
  found.is_there = true;
  const bool is_array = cursor.u32() == static_cast<std::uint32_t>(ValueType::array) &&
                        cursor.u32() == static_cast<std::uint32_t>(ValueType::uint64);
  const std::uint64_t count = cursor.count();
  const std::uint64_t room = prefix.size() / sizeof(std::uint64_t);
  if (!is_array || cursor.has_failed() || count > room || count < layout_index_fields ||
      key_count > count - layout_index_fields || cursor.u64() != layout_index_version) {
    return found;
  }
  LayoutIndex index;
  index.infos_offset = cursor.u64();
  index.infos_bytes = cursor.u64();
  index.infos_hash = cursor.u64();
  index.data_offset = cursor.u64();
  for (std::uint64_t i = 0; i < key_count; ++i) index.key_offsets.push_back(cursor.u64());
  bool has_zeros = true;
  for (std::uint64_t i = key_count + layout_index_fields; i < count; ++i) {
    has_zeros = cursor.u64() == 0 && has_zeros;
  }
  if (cursor.has_failed() || !has_zeros) return found;
  if (makes_sense(index, first_key_offset, options)) found.index = std::move(index);
  return found;
}

std::uint64_t hash_of_infos(std::span<const std::byte> infos) noexcept {
  return XXH3_64bits(infos.data(), infos.size());
}

}  // namespace ingot::format
