// SPDX-License-Identifier: MIT
// Encodes a text without special tokens; each family of tokenizers has an encoder.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/model.hpp"
#include "ingot/tokenizer.hpp"
#include "tokenizer/families/merge.hpp"
#include "tokenizer/families/word_cache.hpp"
#include "tokenizer/unicode/lenient_utf8.hpp"
#include "tokenizer/vocabulary/vocabulary_data.hpp"

namespace ingot::tokenizer {

/// The data of one call of encode: its result, and memory that is used again.
struct Work {
  Work(std::size_t text_bytes, bool wants_ranges)
      : cache(wants_ranges ? 0 : text_bytes), keeps_ranges(wants_ranges) {
    normalized.keeps_origins = replaced.keeps_origins = wants_ranges;
    ids.reserve(text_bytes / expected_token_bytes + 1);
  }

  /// Adds a token for bytes of the piece that is encoded, as the family has normalized it.
  void put(TokenId id, std::size_t begin, std::size_t end) {
    ids.push_back(id);
    if (keeps_ranges) ranges.push_back({begin, end});
  }

  /// Turns the ranges from `first` on, which are places in a normalized piece, into places in the
  /// text, where the piece begins at `offset`.
  void resolve_ranges(std::size_t first, std::size_t offset) {
    for (std::size_t i = first; i < ranges.size(); ++i) {
      ByteRange& range = ranges[i];
      if (!origins.empty()) range = {origins[range.begin], origins[range.end]};
      range = {range.begin + offset, range.end + offset};
    }
    origins = {};
  }

  /// Few texts have shorter tokens, so that ids are seldom moved; memory that stays unused costs
  /// nothing.
  static constexpr std::size_t expected_token_bytes = 2;

  std::vector<TokenId> ids;
  std::vector<ByteRange> ranges;
  WordCache cache;
  MergeBuffers merging;
  NormalizedText normalized;
  NormalizedText replaced;  ///< The text between the steps of families that normalize in two steps.
  /// The origins of the normalized piece's bytes; empty if it was not changed.
  std::span<const std::size_t> origins;
  bool keeps_ranges;
  bool is_too_long = false;  ///< A normalizer has made more of the text than memory should hold.
};

/// Encodes a word by `encode_anew(word, begin)`, or takes the ids that it had before. `begin` is
/// the word's place in the normalized piece.
template <class EncodeAnew>
void encode_word(std::string_view word, std::size_t begin, Work& work,
                 const EncodeAnew& encode_anew, WordCache::Kind kind = WordCache::Kind::word) {
  if (!work.cache.is_on() || word.size() > WordCache::max_word_bytes) {
    return encode_anew(word, begin);
  }
  const WordCache::Key key = work.cache.key(word, kind);
  if (work.cache.append(key, work.ids)) return;
  const std::size_t first = work.ids.size();
  encode_anew(word, begin);
  work.cache.insert(key, std::span(work.ids).subspan(first));
}

/// Immutable, used by many threads at once.
class FamilyEncoder {
 public:
  FamilyEncoder() = default;
  FamilyEncoder(const FamilyEncoder&) = delete;
  FamilyEncoder& operator=(const FamilyEncoder&) = delete;
  virtual ~FamilyEncoder() = default;

  /// Appends the ids of a piece of text that is not empty.
  ///
  /// @param follows_special  whether the piece begins the text or follows a special token.
  virtual void encode(std::string_view piece, bool follows_special, Work& work) const = 0;

  /// Whether a text can be cut at a place, whatever is before and after it: its ids are those of
  /// both parts. `text` begins at a cut, and 4 bytes after the place are there if the whole text
  /// has them; 0 < place < text.size().
  [[nodiscard]] virtual bool can_cut(std::string_view text, std::size_t place) const = 0;

  /// The end of tokens that stay as they are whatever follows, of a text that begins at a cut; 0 if
  /// that is not known.
  [[nodiscard]] virtual std::size_t final_end(std::string_view) const { return 0; }

  /// Whether a merge names or makes a text that is no token.
  [[nodiscard]] virtual bool has_unknown_merges() const noexcept { return false; }
};

using MakeEncoder = Result<std::unique_ptr<const FamilyEncoder>>(const Model& model,
                                                                 const VocabularyData& data);
/// `data` must outlive the encoder.
MakeEncoder make_spm;
MakeEncoder make_bpe;
MakeEncoder make_wpm;
MakeEncoder make_ugm;
MakeEncoder make_rwkv;
MakeEncoder make_plamo2;

}  // namespace ingot::tokenizer
