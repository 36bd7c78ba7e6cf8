// SPDX-License-Identifier: MIT
// Guesses the length of a header from its available part.
#pragma once

#include <cstdint>

namespace ingot::format {

/// The place where the parser ran out of bytes.
struct HeaderProgress {
  /// Bytes that are missing from the record in which the parser stopped.
  std::uint64_t missing_bytes = 0;
  std::uint64_t keys_left = 0;  ///< Keys after the one in which the parser stopped.
  std::uint64_t tensors_left = 0;
  std::uint64_t tensors_read = 0;
  std::uint64_t infos_read_bytes = 0;  ///< Size of the tensor infos that were read.
  // --- the array of strings in which the parser stopped, if any
  std::uint64_t strings_left = 0;
  std::uint64_t strings_read = 0;
  std::uint64_t strings_read_bytes = 0;
  // --- the vocabulary, if the parser stopped in or behind its tokens
  std::uint64_t tokens = 0;
  std::uint64_t tokens_read = 0;
  std::uint64_t tokens_read_bytes = 0;
  std::uint64_t token_numbers = 0;  ///< Arrays still to come with a number for each token: scores,
                                    ///< types.
  bool has_merges = false;          ///< The merges of a byte-pair encoding are still to come.
};

/// The number of further bytes that the header will probably need: at least `missing_bytes`, at
/// most `most_bytes`. It is a guess from the bytes that were read. Takes constant time.
[[nodiscard]] std::uint64_t expected_bytes(const HeaderProgress& progress,
                                           std::uint64_t most_bytes) noexcept;

}  // namespace ingot::format
