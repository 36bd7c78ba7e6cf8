// SPDX-License-Identifier: MIT
// The value of the key `ingot.index`: where the parts of a header are. Offsets are of the file.
//
//   [0]  version of this layout, 1
//   [1]  offset of the tensor infos          [2]  their size in bytes
//   [3]  XXH3 (64 bits, seed 0) of their bytes
//   [4]  offset of the data section
//   [5 + i]  offset of the record of key i; zeros behind the last key are room
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "format/parse.hpp"
#include "ingot/error.hpp"

namespace ingot::format {

inline constexpr std::uint64_t layout_index_version = 1;
/// The number of elements before the offsets of the keys.
inline constexpr std::size_t layout_index_fields = 5;

struct LayoutIndex {
  std::uint64_t infos_offset = 0;
  std::uint64_t infos_bytes = 0;
  std::uint64_t infos_hash = 0;
  std::uint64_t data_offset = 0;
  std::vector<std::uint64_t> key_offsets = {};  ///< One for each key.

  [[nodiscard]] std::uint64_t infos_end() const noexcept { return infos_offset + infos_bytes; }
  /// The offset at which the record of a key ends.
  [[nodiscard]] std::uint64_t end_of_key(std::size_t position) const noexcept {
    return position + 1 < key_offsets.size() ? key_offsets[position + 1] : infos_offset;
  }
};

/// The elements of the key, with `room` zeros behind the offsets.
[[nodiscard]] std::vector<std::uint64_t> elements_of(const LayoutIndex& index, std::size_t room);

/// The result of the search for an index at the beginning of a file.
struct FoundIndex {
  bool is_there = false;             ///< Whether the first key has the name of an index.
  std::optional<LayoutIndex> index;  ///< Set if it makes sense: in order, within file and limits.
};
[[nodiscard]] FoundIndex find_index(std::span<const std::byte> prefix, const ParseOptions& options);

[[nodiscard]] std::uint64_t hash_of_infos(std::span<const std::byte> infos) noexcept;

/// The available bytes of a header: the first ones, and those from an offset to its end.
struct HeaderParts {
  std::span<const std::byte> header;  ///< The whole header; bytes between the parts are not read.
  std::uint64_t first_bytes = 0;
  std::uint64_t tail_offset = 0;
};

/// Keys with longer records are left out; the index exists to skip them.
inline constexpr std::uint64_t most_indexed_record_bytes = std::uint64_t{64} << 10;

/// Parses a header through its index: the tensor infos, and the keys whose records are available
/// and short. Any error means that the index contradicts the header as far as it was read; a parse
/// without the index then decides. Sets `is_indexed` of the structure.
[[nodiscard]] Result<Structure> parse_indexed(const HeaderParts& parts, const LayoutIndex& index,
                                              const ParseOptions& options);

}  // namespace ingot::format
