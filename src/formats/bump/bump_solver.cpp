// SPDX-License-Identifier: MIT
#include "formats/bump/bump_solver.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/checked.hpp"

namespace ingot::formats {
namespace {

/// Whether a numbering can be meant: the doc numbering alone has weights with the code 6 (Q4_1 in
/// the other, which no writer accepts), the engine's alone has 8, 9, 11, 12 and 13.
bool can_be(BumpCodes codes, const std::vector<std::uint8_t>& table) {
  const auto has = [&](std::initializer_list<std::uint8_t> wanted) {
    return std::ranges::find_first_of(table, wanted) != table.end();
  };
  return codes == BumpCodes::doc ? !has({8, 9, 10, 11, 12, 13}) : !has({6});
}

std::optional<std::vector<TensorType>> types_of(const std::vector<std::uint8_t>& table,
                                                BumpCodes codes) {
  std::vector<TensorType> types;
  types.reserve(table.size());
  for (const std::uint8_t code : table) {
    const auto type = bump_type_of(code, codes);
    if (!type) return std::nullopt;
    types.push_back(*type);
  }
  return types;
}

class Solver {
 public:
  Solver(const BumpFile& bump, const BumpConfig& config)
      : bump_(bump), config_(config), payload_bytes_(bump.payload_end - bump.sections_begin) {}

  std::optional<BumpSolution> solve() {
    if (bump_.header.version == 2) {
      for (const TensorType weights : {TensorType::q4_k, TensorType::f32}) {
        // The table that version 2 does not have: all weights are of one type.
        const auto type_of_weight = [&](std::uint64_t, BumpRole) { return weights; };
        try_widths(table_types(bump_.header.shape.layers, type_of_weight), "none");
      }
    } else if (bump_.header.version == 3) {
      try_codes(BumpCodes::doc, "doc");
      try_codes(BumpCodes::engine, "engine");
    } else {
      try_codes(BumpCodes::engine, "engine");
    }
    if (found_.size() == 1) return std::move(found_.front());
    return std::nullopt;
  }

 private:
  void try_codes(BumpCodes codes, const char* text) {
    if (bump_.header.version == 3 && !can_be(codes, bump_.codes)) return;
    auto types = types_of(bump_.codes, codes);
    if (!types) return;
    if (bump_.header.version == 3) {
      const bool is_quantized =
          std::ranges::any_of(bump_.codes, [](std::uint8_t code) { return code > 2; });
      // Without quantized types both sets of codes are equal.
      if (!is_quantized && codes == BumpCodes::engine) return;
      try_widths(*std::move(types), is_quantized ? text : "doc or engine");
    } else {
      try_tokenizers(*std::move(types), text);
    }
  }

  BumpLayout make_layout(std::vector<TensorType> types) const {
    BumpLayout layout;
    layout.shape = bump_.header.shape;
    layout.types = std::move(types);
    layout.has_biases = bump_.has_biases;
    layout.has_output = bump_.has_output;
    layout.has_pos_emb = bump_.has_biases;
    layout.post_norms = bump_.post_norms;
    return layout;
  }

  /// The bytes of all sections; nothing if there can be no such layout.
  static std::optional<std::uint64_t> measure(const BumpLayout& layout) {
    const auto sections = lay_out(layout);
    return sections ? total_bytes(*sections) : std::nullopt;
  }

  void keep(BumpLayout layout, const char* codes) {
    auto sections = lay_out(layout);
    if (!sections || total_bytes(*sections) != payload_bytes_) return;
    found_.push_back({std::move(layout), *std::move(sections), codes});
  }

  // --- version 2 and 3: the header lacks the heads of keys and the width of feed-forward nets

  void try_widths(std::vector<TensorType> types, const char* codes) {
    BumpLayout layout = make_layout(std::move(types));
    if (config_.kv_heads && config_.feed_forward) {
      const std::size_t before = found_.size();
      set_widths(layout, *config_.kv_heads, *config_.feed_forward);
      keep(layout, codes);
      if (found_.size() > before) return;
    }
    if (layout.shape.layers == 0) {  // then neither matters
      set_widths(layout, layout.shape.heads, 0);
      return keep(layout, codes);
    }
    constexpr std::uint64_t max_heads = 4096;  // no model has more heads
    const std::uint64_t heads = layout.shape.heads;
    for (std::uint64_t kv_heads = 1; kv_heads <= std::min(heads, max_heads); ++kv_heads) {
      if (heads % kv_heads == 0) try_kv_heads(layout, kv_heads, codes);
    }
  }

  /// The width follows from the remaining bytes, because the size is linear in it.
  void try_kv_heads(BumpLayout& layout, std::uint64_t kv_heads, const char* codes) {
    // A unit of widths: whole blocks of every type, and whole lines in a padded file.
    constexpr std::uint64_t unit = 256;
    set_widths(layout, kv_heads, unit);
    const auto one = measure(layout);
    set_widths(layout, kv_heads, 2 * unit);
    const auto two = measure(layout);
    if (!one || !two || *two < *one) return;
    const std::uint64_t slope = *two - *one;  // bytes for each unit
    const std::uint64_t constant = *one - slope;
    if (slope == 0 || payload_bytes_ < constant) return;
    const auto scaled = checked_mul(payload_bytes_ - constant, unit);
    if (!scaled || *scaled % slope != 0) return;
    set_widths(layout, kv_heads, *scaled / slope);
    keep(layout, codes);
  }

  static void set_widths(BumpLayout& layout, std::uint64_t kv_heads, std::uint64_t feed_forward) {
    BumpShape& shape = layout.shape;
    shape.kv_heads = kv_heads;
    shape.feed_forward = feed_forward;
    // A padded file is padded in every width; that of feed-forward nets is not in the header.
    constexpr std::uint64_t line = 16;
    const bool is_padded =
        shape.aligned_embedding != shape.embedding || shape.aligned_head != shape.head_width;
    const auto aligned = checked_align_up(feed_forward, line);
    shape.aligned_feed_forward = is_padded && aligned ? *aligned : feed_forward;
  }

  // --- version 4 and 5: there may be a tokenizer between the sections

  void try_tokenizers(std::vector<TensorType> types, const char* codes) {
    BumpLayout layout = make_layout(std::move(types));
    keep(layout, codes);
    if (!found_.empty() || !bump_.has_biases) return;
    // Only writers that place the table late leave out the position embedding or have norms of
    // heads.
    const bool is_late = bump_.payload_begin != bump_header_bytes;
    for (const bool has_head_norms : {false, true}) {
      for (const bool has_pos_emb : {false, true}) {
        if (!is_late && (has_head_norms || !has_pos_emb)) continue;
        layout.has_head_norms = has_head_norms;
        layout.has_pos_emb = has_pos_emb;
        try_tokenizer(layout, codes);
      }
    }
  }

  /// The remaining bytes of the sections must be a tokenizer, or empty.
  void try_tokenizer(BumpLayout& layout, const char* codes) {
    layout.tokenizer = {};
    const auto size_bytes = measure(layout);
    if (!size_bytes || *size_bytes > payload_bytes_) return;
    const std::uint64_t left_bytes = payload_bytes_ - *size_bytes;
    if (left_bytes > 0) {
      const auto tokenizer = tokenizer_of(left_bytes);
      if (!tokenizer) return;
      layout.tokenizer = *tokenizer;
    }
    keep(layout, codes);
  }

  /// The tokenizer of a size in bytes; nothing if none is possible. Merges are two or three
  /// numbers.
  [[nodiscard]] std::optional<BumpTokenizer> tokenizer_of(std::uint64_t size_bytes) const {
    const BumpHeader& header = bump_.header;
    if (header.merges == 0 && header.vocabulary_bytes == 0) return std::nullopt;
    for (const std::uint64_t merge_words : {3u, 2u}) {
      for (const unsigned known : {0u, 1u, 2u, 3u}) {
        const BumpTokenizer tokenizer{.tokens = header.shape.vocabulary,
                                      .text_bytes = header.vocabulary_bytes,
                                      .has_scores = (known & 1u) != 0,
                                      .has_types = (known & 2u) != 0,
                                      .merges = header.merges,
                                      .merge_words = merge_words};
        if (tokenizer.size_bytes() == size_bytes) return tokenizer;
      }
    }
    return std::nullopt;
  }

  const BumpFile& bump_;
  const BumpConfig& config_;
  std::uint64_t payload_bytes_;
  std::vector<BumpSolution> found_;
};

}  // namespace

std::optional<BumpSolution> solve_bump(const BumpFile& bump, const BumpConfig& config) {
  return Solver(bump, config).solve();
}

}  // namespace ingot::formats
