// SPDX-License-Identifier: MIT
// Reading a long range of a source without holding all of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/checked.hpp"
#include "ingot/error.hpp"
#include "ingot/source.hpp"

namespace ingot::io {

inline constexpr std::uint64_t usual_piece_bytes = std::uint64_t{1} << 20;

/// Calls `take(bytes, done)` with the bytes of a range, piece by piece, of which `done` bytes came
/// before; it returns whether to go on. Returns whether all of them were taken, or the error of
/// reading.
template <class Take>
[[nodiscard]] Result<bool> read_pieces(const Source& source, std::uint64_t offset,
                                       std::uint64_t size_bytes, const Take& take,
                                       std::uint64_t piece_bytes = usual_piece_bytes) {
  std::vector<std::byte> buffer(to_size(std::min(size_bytes, piece_bytes)));
  for (std::uint64_t done = 0; done < size_bytes; done += buffer.size()) {
    buffer.resize(to_size(std::min(size_bytes - done, piece_bytes)));
    INGOT_TRY_VOID(source.read(offset + done, buffer));
    if (!take(std::span<const std::byte>(buffer), done)) return false;
  }
  return true;
}

}  // namespace ingot::io
