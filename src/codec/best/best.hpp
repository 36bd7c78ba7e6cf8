// SPDX-License-Identifier: MIT
// Encoders of the effort `best`: a search for blocks with a lower error than the reference finds,
// at the same type and size.
//
// Each block is encoded twice, as the reference does it and by the search. Both get the scales with
// which they cost least, and the better one is kept: no block is worse than the corrected one of
// the reference.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/codec.hpp"

namespace ingot::codec {

/// Blocks to search for.
struct BlockSearch {
  /// The values of the blocks, back to back: finite, the largest magnitude of each block from
  /// least_searched to greatest_searched.
  const float* x = nullptr;
  /// The weights of the values, 0 to 1; the largest of each block is 1.
  const float* w = nullptr;
  const std::byte* reference = nullptr;  ///< The blocks of the reference encoder.
  std::byte* dst = nullptr;              ///< Receives the blocks.
  std::size_t block_count = 0;
};

inline constexpr float least_searched = 1e-8f;
inline constexpr float greatest_searched = 1e8f;

using SearchBlocks = void (*)(const BlockSearch& search) noexcept;
/// Multiplies the scales of a block, which are rounded to binary16 again.
using RescaleBlock = void (*)(std::byte* block, double factor) noexcept;

/// The weight of a value in the search.
enum class SearchWeights : std::uint8_t {
  plain,    ///< Its importance; 1 without importances.
  balanced  ///< Its importance times sqrt(mean square of the block + square of the value).
};

/// Weight of the shortening in the cost of a block. Shortening adds up over the columns, as the
/// inputs of a matrix are correlated: the energy of its output was about four times the energy that
/// the columns alone explain.
inline constexpr double usual_shortening = 3.0;

struct BestEncoder {
  TensorType type;
  SearchWeights weights;
  SearchBlocks search;      ///< Searches several blocks at once.
  SearchBlocks search_ref;  ///< Searches one block after the other, with the same result.
  RescaleBlock rescale;     ///< Null for types whose scales are too coarse to be corrected.
  double shortening = usual_shortening;
};

/// The best encoder of a type; null if it has none. O(types), thread-safe.
[[nodiscard]] const BestEncoder* find_best_encoder(TensorType type) noexcept;

/// Encodes rows as well as `encoder` can. Scales are those with which a block costs least
/// (block_cost with the importances), unless its weights are too short or too long by more than a
/// half. Blocks with values that are not finite or out of the range of a search, with a negative
/// importance or with none above 0 are those of the reference. Thread-safe; no block depends on
/// another one. Needs about 200 KiB of stack.
void quantize_best(const BestEncoder& encoder, const FloatRows& rows) noexcept;

/// The search's weights of a block, scaled so that the largest is 1; false if there is nothing to
/// search for. `importances` may be null.
[[nodiscard]] bool weigh_for_search(SearchWeights weights, const float* x, const float* importances,
                                    std::size_t count, float* w) noexcept;

/// The cost of a block: the sum of w * e * e, plus `shortening` times its part along the source.
/// Sums in f64 in the order of the elements.
[[nodiscard]] double block_cost(const float* x, const float* decoded, const float* w,
                                std::size_t count, double shortening) noexcept;

// The searches of each type: search_<enumerator> and search_<enumerator>_ref, in
// <family>_best_simd.cpp.
#define INGOT_BEST_ENCODER(enumerator, weights, rescale)        \
  void search_##enumerator(const BlockSearch& search) noexcept; \
  void search_##enumerator##_ref(const BlockSearch& search) noexcept;
#include "codec/best/best_encoders.def"
#undef INGOT_BEST_ENCODER

}  // namespace ingot::codec
