// SPDX-License-Identifier: MIT
// The first bytes of a bump file, the weight file of C-Kernel-Engine, and its numberings of types.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "ingot/convert.hpp"
#include "ingot/error.hpp"
#include "ingot/types.hpp"

namespace ingot::formats {

inline constexpr std::uint64_t bump_header_bytes = 128;
inline constexpr std::size_t bump_checksum_bytes = 32;

/// The dimensions of a model. "Aligned" widths are the sizes of a value or row in the file.
struct BumpShape {
  std::uint64_t layers = 0;
  std::uint64_t vocabulary = 0;
  std::uint64_t embedding = 0;
  std::uint64_t feed_forward = 0;  ///< 0 from headers of versions 2 and 3
  std::uint64_t context = 0;
  std::uint64_t heads = 0;
  std::uint64_t kv_heads = 0;  ///< likewise
  std::uint64_t head_width = 0;
  std::uint64_t aligned_embedding = 0;
  std::uint64_t aligned_head = 0;
  std::uint64_t aligned_feed_forward = 0;  ///< likewise
  std::uint64_t aligned_context = 0;       ///< This is only stored; no section has that size.

  [[nodiscard]] bool is_padded() const noexcept {
    return aligned_embedding != embedding || aligned_head != head_width ||
           aligned_feed_forward != feed_forward;
  }
};

using BumpHeaderBytes = std::array<std::byte, bump_header_bytes>;

/// The header of version 3 or 4, without a checksum.
[[nodiscard]] BumpHeaderBytes make_bump_header(std::uint32_t version, const BumpShape& shape);

/// The offset of the checksum in the header.
[[nodiscard]] std::size_t bump_checksum_offset(std::uint32_t version) noexcept;

/// The content of a header. Errc::bump_header_invalid, Errc::unsupported_version.
struct BumpHeader {
  std::uint32_t version = 0;  ///< 2 to 5
  BumpShape shape;
  std::uint32_t merges = 0;            ///< The merges of the tokenizer, if there is one; versions 4
                                       ///< and 5.
  std::uint32_t vocabulary_bytes = 0;  ///< The size of its texts, likewise.
};
[[nodiscard]] Result<BumpHeader> parse_bump_header(std::span<const std::byte> bytes);

/// The code of a type; nothing if the numbering has none.
[[nodiscard]] std::optional<std::uint8_t> bump_code_of(TensorType type, BumpCodes codes) noexcept;

/// The type of a code; nothing if it is unknown, or has no equal in GGUF.
[[nodiscard]] std::optional<TensorType> bump_type_of(std::uint8_t code, BumpCodes codes) noexcept;

}  // namespace ingot::formats
