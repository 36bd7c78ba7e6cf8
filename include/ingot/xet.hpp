// SPDX-License-Identifier: MIT
// Chunks and hashes of Xet, the storage of Hugging Face (target ingot::convert).
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "ingot/export.h"

namespace ingot {

/// The hash of a chunk, a xorb or a file: its 32 bytes as four little-endian numbers.
struct XetHash {
  std::array<std::uint64_t, 4> numbers{};

  [[nodiscard]] auto operator<=>(const XetHash&) const = default;
};

/// The 64 digits that Hugging Face shows: each number from its highest digit on.
[[nodiscard]] INGOT_EXPORT std::string name_of(const XetHash& hash);

/// The hash that 64 lower-case digits stand for; nothing if they are none.
[[nodiscard]] INGOT_EXPORT std::optional<XetHash> parse_xet_hash(std::string_view digits);

/// The most bytes of a chunk.
inline constexpr std::size_t most_xet_chunk_bytes = std::size_t{128} << 10;

/// A piece of a file whose ends its bytes decide, so that equal bytes in two files are mostly equal
/// chunks, wherever they stand: 8 to 128 KiB, 64 KiB on average. The last one of a file may be
/// smaller.
struct XetChunk {
  XetHash hash;
  std::uint64_t size_bytes = 0;

  [[nodiscard]] bool operator==(const XetChunk&) const = default;
};

using XetChunkSink = std::function<void(const XetChunk&)>;

/// Cuts bytes that stream by into chunks, and makes the hash of the file of them. Movable, not
/// copyable; not thread-safe, but several can work at the same time. Holds 150 KiB.
class INGOT_EXPORT XetHasher {
 public:
  /// @param sink  receives each chunk as soon as its end is known.
  explicit XetHasher(XetChunkSink sink = {});
  XetHasher(XetHasher&&) noexcept;
  XetHasher& operator=(XetHasher&&) noexcept;
  ~XetHasher();

  /// Appends bytes. Linear; does not allocate. Pieces of 256 KiB or more are fastest.
  void update(std::span<const std::byte> bytes);

  /// Ends the last chunk, and returns the hash of the file; zeros if it is empty. Then it begins
  /// anew.
  [[nodiscard]] XetHash finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The limits of a xorb, the object in which Hugging Face stores chunks.
inline constexpr std::uint64_t most_xorb_bytes = std::uint64_t{64} << 20;
inline constexpr std::size_t most_xorb_chunks = 8192;

/// The hash of a xorb with these chunks; zeros if there are none.
[[nodiscard]] INGOT_EXPORT XetHash xorb_hash(std::span<const XetChunk> chunks);

}  // namespace ingot
