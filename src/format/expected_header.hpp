// SPDX-License-Identifier: MIT
// How long a header will be, by the part of it that is there.
#pragma once

#include <cstdint>

namespace ingot::format {

/// Where the parser stopped for want of bytes.
struct HeaderProgress {
  /// Bytes that the record needs in which the parser stopped, beyond those that are there.
  std::uint64_t missing_bytes = 0;
  std::uint64_t keys_left = 0;  ///< After the one that it stopped in.
  std::uint64_t tensors_left = 0;
  std::uint64_t tensors_read = 0;
  std::uint64_t infos_read_bytes = 0;  ///< Of the tensors that were read.
  // --- the array of strings that it stopped in, if it did
  std::uint64_t strings_left = 0;
  std::uint64_t strings_read = 0;
  std::uint64_t strings_read_bytes = 0;
  // --- the vocabulary, where the parser stopped in or behind its tokens
  std::uint64_t tokens = 0;
  std::uint64_t tokens_read = 0;
  std::uint64_t tokens_read_bytes = 0;
  std::uint64_t token_numbers = 0;  ///< Arrays to come of a number for each token: scores, types.
  bool has_merges = false;          ///< The merges of a byte-pair encoding are still to come.
};

/// How many more bytes the header will probably need: at least `missing_bytes`, at most
/// `most_bytes`. A guess by means of what was read; takes constant time.
[[nodiscard]] std::uint64_t expected_bytes(const HeaderProgress& progress,
                                           std::uint64_t most_bytes) noexcept;

}  // namespace ingot::format
