// SPDX-License-Identifier: MIT
// The sections of a bump file: the one description that reading and writing share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "formats/bump/bump_header.hpp"
#include "ingot/types.hpp"

namespace ingot::formats {

/// The content of a section.
enum class BumpRole : std::uint8_t {
#define INGOT_BUMP_ROLE(name) name,
#include "formats/bump/bump_roles.def"
#undef INGOT_BUMP_ROLE
};

/// The vocabulary between the sections: offsets (I32) into the bytes of the texts, and optional
/// parts.
struct BumpTokenizer {
  std::uint64_t tokens = 0;  ///< 0: there is none.
  std::uint64_t text_bytes = 0;
  bool has_scores = false;   ///< F32
  bool has_types = false;    ///< There is a type of one byte for each token.
  std::uint64_t merges = 0;  ///< The number of merges of `merge_words` I32 each.
  std::uint64_t merge_words = 0;

  [[nodiscard]] std::uint64_t size_bytes() const noexcept {
    const std::uint64_t token_bytes = 4u + (has_scores ? 4u : 0u) + (has_types ? 1u : 0u);
    return tokens * token_bytes + text_bytes + merges * merge_words * 4;
  }
};

/// The arrangement of the sections by a writer. Types follow the dtype table, entry by entry.
struct BumpLayout {
  BumpShape shape;  ///< The full shape, with the widths that a header may lack.
  std::vector<TensorType> types;
  bool has_biases = true;   ///< If false, a layer has eight sections, and there is no position
                            ///< embedding.
  bool has_pos_emb = true;  ///< Whether it is in the file; its type is in the table either way.
  bool has_output = false;  ///< The output follows the embedding, or without biases comes last.
  unsigned post_norms = 0;  ///< The norms of each layer after the other two; at most 2, and only
                            ///< with biases.
  /// Whether each layer has a norm for the queries and one for the keys, as wide as a head. They
  /// are not in the table.
  bool has_head_norms = false;
  BumpTokenizer tokenizer = {};  ///< The tokenizer follows the embedding and the output; it is not
                                 ///< in the table.
};

/// The entries of the dtype table of a layout; nothing if they are too many to count.
[[nodiscard]] std::optional<std::uint64_t> bump_table_entries(const BumpLayout& layout) noexcept;

/// The dtype table of a layout with biases: weights are of the types that `type_of_weight` gives by
/// layer and role, and all else is F32.
[[nodiscard]] std::vector<TensorType> table_types(
    std::uint64_t layers,
    const std::function<TensorType(std::uint64_t layer, BumpRole role)>& type_of_weight);

struct BumpSection {
  BumpRole role = BumpRole::token_emb;
  std::uint64_t layer = 0;  ///< The layer, for sections of a layer.
  TensorType type = TensorType::f32;
  std::vector<std::uint64_t> shape;  ///< Dimension 0, the fastest-varying, first.
  std::uint64_t size_bytes = 0;
};

/// "token_emb", "layer.3.wq"
[[nodiscard]] std::string name_of(const BumpSection& section);

/// Whether a section belongs to a layer.
[[nodiscard]] bool is_of_layer(BumpRole role) noexcept;

/// All sections after the dtype table, in order; nothing if sizes overflow, rows are no whole
/// blocks, or there are more or less types than entries.
///
/// Rows of F32 matrices have the aligned widths, those of quantized ones the true widths.
/// An F32 wo in a padded file is one block of columns for each head.
[[nodiscard]] std::optional<std::vector<BumpSection>> lay_out(const BumpLayout& layout);

/// The bytes of all sections; nothing if they overflow.
[[nodiscard]] std::optional<std::uint64_t> total_bytes(const std::vector<BumpSection>& sections);

}  // namespace ingot::formats
