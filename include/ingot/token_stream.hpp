// SPDX-License-Identifier: MIT
// Texts of any length to token ids, in bounded memory and on all cores (target ingot::text).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/tokenizer.hpp"

namespace ingot {

/// Fills a buffer with the next bytes of a text and returns how many; 0: the text is over.
using ReadText = std::function<Result<std::size_t>(std::span<char> buffer)>;

/// A part of a text and its ids. Valid during the call that hands it over.
struct TokenizedPart {
  std::uint64_t begin = 0;  ///< The offset of the part in the whole text, in bytes.
  std::string_view text;
  std::span<const TokenId> ids;
  std::span<const ByteRange> ranges;  ///< Ranges in the part; empty unless requested.
};

/// Takes the parts of a text, from front to back. An error ends the work.
using TakeTokens = std::function<Result<void>(const TokenizedPart& part)>;

struct EncodeStreamOptions {
  bool add_special = true;  ///< See EncodeOptions.
  bool parse_special = false;
  bool with_ranges = false;   ///< Slower.
  unsigned thread_count = 0;  ///< 0: as many as the machine has cores.
  /// Bytes of a part, if the text can be cut so often. Ids do not depend on it.
  std::size_t part_bytes = std::size_t{1} << 19;
};

/// Encodes a text that is read as it is needed: the ids of all parts together are those that
/// `tokenizer.encode` gives for the whole.
///
/// `read` and `take` are called from the calling thread, which encodes while it has nothing else to
/// do. Memory: as many parts as threads, 16 at most, and eight more, their ids, and the caches of
/// the threads. A part grows beyond `part_bytes` where the text cannot be cut: Errc::limit_exceeded
/// if it reaches Tokenizer::max_text_bytes. Errors of `read` and `take` are returned.
[[nodiscard]] INGOT_EXPORT Result<void> encode_stream(const Tokenizer& tokenizer,
                                                      const ReadText& read, const TakeTokens& take,
                                                      const EncodeStreamOptions& options = {});

}  // namespace ingot
