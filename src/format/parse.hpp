// SPDX-License-Identifier: MIT
// GGUF bytes to structure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "format/cursor.hpp"
#include "format/name_index.hpp"
#include "format/value_context.hpp"
#include "ingot/error.hpp"
#include "ingot/limits.hpp"
#include "ingot/metadata.hpp"
#include "ingot/tensor.hpp"
#include "ingot/types.hpp"

namespace ingot::format {

/// The limits of a strict reader for one tensor, as in ggml.
inline constexpr std::size_t max_name_bytes = 64;
inline constexpr std::size_t max_dimensions = 4;

/// The size of a file whose size is not known (yet), such as a pipe or a download.
inline constexpr std::uint64_t unknown_file_bytes = std::numeric_limits<std::int64_t>::max();

/// The arrays of strings that parsing a prefix has found, by the offset of the first string. With
/// them, parsing a longer prefix of the same file does not step over the same strings again.
using KnownStrings = std::map<std::uint64_t, SkippedStrings>;

struct ParseOptions {
  bool is_lenient = false;
  Limits limits = {};
  /// The size of the whole file. Counts, lengths and tensor data are checked against it.
  std::uint64_t file_bytes = unknown_file_bytes;
  /// Optional: strings found in earlier prefixes; parsing adds to them.
  KnownStrings* known_strings = nullptr;
};

/// Everything before the data section, checked. All names, values and shapes are views of the
/// parsed bytes or of `dimensions`.
struct Structure {
  std::unique_ptr<detail::ValueContext> context;
  std::uint32_t version = 0;
  Endian byte_order = Endian::little;
  bool has_old_magic = false;     ///< The magic is "FUGG".
  bool has_stripped_nul = false;  ///< A key or a string loses a trailing NUL.
  std::uint64_t alignment = default_alignment;
  std::uint64_t infos_offset = 0;  ///< First byte of the tensor infos.
  std::uint64_t header_bytes = 0;  ///< First byte after the tensor infos.
  std::uint64_t data_offset = 0;   ///< `header_bytes` rounded up to the alignment.
  bool is_indexed = false;         ///< Parsed through a layout index: keys may be left out.
  std::uint64_t unread_keys = 0;
  std::vector<KeyValue> metadata;
  NameIndex key_index;
  std::vector<std::uint64_t> dimensions;
  std::vector<TensorInfo> tensors;
  NameIndex tensor_index;

  /// The value of a key; nullptr if there is no such key.
  [[nodiscard]] const Value* find(std::string_view key) const noexcept {
    const auto position = key_index.find(key, [&](std::uint32_t at) { return metadata[at].key; });
    return position ? &metadata[*position].value : nullptr;
  }
};

/// The end of the data that a tensor table describes, without padding; the end of the header if
/// there is no tensor. The table has been parsed, so no sum overflows. Inline, because `check` is
/// not a part of the library that parses.
[[nodiscard]] inline std::uint64_t end_of_data(std::uint64_t header_bytes,
                                               std::uint64_t data_offset,
                                               std::span<const TensorInfo> tensors) noexcept {
  if (tensors.empty()) return header_bytes;
  std::uint64_t end = 0;
  for (const TensorInfo& tensor : tensors) {
    end = std::max(end, tensor.data_offset + tensor.size_bytes);
  }
  return data_offset + end;
}

/// The result of parsing a prefix of a file: the whole structure, or a request for more bytes.
struct Parsed {
  Structure structure;              ///< It counts only if it is complete.
  std::uint64_t missing_bytes = 0;  ///< The least number of further bytes that are needed.
  /// The probable number of further bytes that are needed, at least `missing_bytes`. Sources on
  /// which every read costs a round trip use it. It is a guess, and wrong for a hostile file.
  std::uint64_t expected_bytes = 0;

  [[nodiscard]] bool is_complete() const noexcept { return missing_bytes == 0; }
};

/// Parses the beginning of a file.
///
/// @param prefix   the file's first bytes, as many as are there; borrowed by the Structure.
/// @param options  what is accepted, and the size of the whole file if it is known.
/// @return         the structure; or how many bytes are missing at least, if `prefix` is not the
///                 whole file and ends too early; or the error for which the file is refused.
///
/// Linear in the bytes of the header (n log n in the tensors if they are not in the order of their
/// offsets). Allocates seven times at most, in all less than 9 bytes per byte of `prefix`. Throws
/// std::bad_alloc only. Source of the rules: docs/format.md.
[[nodiscard]] Result<Parsed> parse(std::span<const std::byte> prefix, const ParseOptions& options);

}  // namespace ingot::format
