// SPDX-License-Identifier: MIT
#include "formats/bump/bump_layout.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "base/checked.hpp"

namespace ingot::formats {
namespace {

constexpr std::array full_layer = {
    BumpRole::ln1_gamma, BumpRole::ln2_gamma, BumpRole::wq, BumpRole::bq, BumpRole::wk,
    BumpRole::bk,        BumpRole::wv,        BumpRole::bv, BumpRole::wo, BumpRole::bo,
    BumpRole::w1,        BumpRole::b1,        BumpRole::w2, BumpRole::b2};

/// Sections of some models only, before one of the above.
constexpr std::array post_norms = {BumpRole::post_attention_norm, BumpRole::post_ffn_norm};

constexpr std::array short_layer = {BumpRole::ln1_gamma, BumpRole::wq, BumpRole::wk,
                                    BumpRole::wv,        BumpRole::wo, BumpRole::ln2_gamma,
                                    BumpRole::w1,        BumpRole::w2};

constexpr std::string_view role_words[] = {
#define INGOT_BUMP_ROLE(name) #name,
#include "formats/bump/bump_roles.def"
#undef INGOT_BUMP_ROLE
};

constexpr std::array weight_roles = {BumpRole::wq, BumpRole::wk, BumpRole::wv,
                                     BumpRole::wo, BumpRole::w1, BumpRole::w2};

/// A width as a row of a type needs it: quantized rows cannot be lengthened.
std::uint64_t row_of(TensorType type, std::uint64_t width, std::uint64_t aligned) {
  return type == TensorType::f32 ? aligned : width;
}

class Builder {
 public:
  explicit Builder(const BumpLayout& layout) : layout_(layout), shape_(layout.shape) {}

  std::optional<std::vector<BumpSection>> build() {
    const auto entries = bump_table_entries(layout_);
    if (!entries || *entries != layout_.types.size()) return std::nullopt;
    add(BumpRole::token_emb, 0);
    if (layout_.has_output && layout_.has_biases) add(BumpRole::output, 0);
    add_tokenizer(layout_.tokenizer);
    if (layout_.has_pos_emb) {
      add(BumpRole::pos_emb, 0);
    } else if (layout_.has_biases) {
      ++next_type_;  // an entry without a section
    }
    const std::span<const BumpRole> roles =
        layout_.has_biases ? std::span<const BumpRole>(full_layer) : short_layer;
    for (std::uint64_t layer = 0; layer < shape_.layers && is_good_; ++layer) {
      for (const BumpRole role : roles) add_of_layer(role, layer);
    }
    add(BumpRole::final_ln_weight, 0);
    if (layout_.has_biases) add(BumpRole::final_ln_bias, 0);
    if (layout_.has_output && !layout_.has_biases) add(BumpRole::output, 0);
    if (!is_good_) return std::nullopt;
    return std::move(sections_);
  }

 private:
  void add(BumpRole role, std::uint64_t layer) {
    const TensorType type = layout_.types[next_type_++];
    append({role, layer, type, shape_of(role, type), 0});
  }

  void add_tokenizer(const BumpTokenizer& tokenizer) {
    const auto add_part = [&](BumpRole role, TensorType type, std::vector<std::uint64_t> shape) {
      if (shape.back() > 0) append({role, 0, type, std::move(shape), 0});
    };
    const std::uint64_t tokens = tokenizer.tokens;
    if (tokens == 0) return;
    add_part(BumpRole::vocab_offsets, TensorType::i32, {tokens});
    add_part(BumpRole::vocab_strings, TensorType::i8, {tokenizer.text_bytes});
    add_part(BumpRole::vocab_scores, TensorType::f32, {tokenizer.has_scores ? tokens : 0});
    add_part(BumpRole::vocab_types, TensorType::i8, {tokenizer.has_types ? tokens : 0});
    add_part(BumpRole::vocab_merges, TensorType::i32, {tokenizer.merge_words, tokenizer.merges});
  }

  /// Adds a section that every model has, and those that only some models have beside it.
  void add_of_layer(BumpRole role, std::uint64_t layer) {
    if (role == BumpRole::wq && layout_.has_biases) {
      for (unsigned i = 0; i < layout_.post_norms; ++i) add(post_norms[i], layer);
    }
    add(role, layer);
    if (!layout_.has_head_norms) return;
    const std::vector<std::uint64_t> shape = {shape_.aligned_head};
    if (role == BumpRole::bq) append({BumpRole::q_norm, layer, TensorType::f32, shape, 0});
    if (role == BumpRole::bk) append({BumpRole::k_norm, layer, TensorType::f32, shape, 0});
  }

  /// Counts the bytes of a section and keeps it.
  void append(BumpSection section) {
    const Result<TensorSize> size = size_of_tensor(section.type, section.shape);
    if (!size || find_type(section.type) == nullptr) {
      is_good_ = false;
      return;
    }
    section.size_bytes = size->bytes;
    sections_.push_back(std::move(section));
  }

  std::uint64_t product(std::uint64_t a, std::uint64_t b) {
    const auto result = checked_mul(a, b);
    if (!result) is_good_ = false;
    return result.value_or(0);
  }

  std::vector<std::uint64_t> shape_of(BumpRole role, TensorType type) {
    const std::uint64_t embedding = row_of(type, shape_.embedding, shape_.aligned_embedding);
    const std::uint64_t feed_forward =
        row_of(type, shape_.feed_forward, shape_.aligned_feed_forward);
    const std::uint64_t query_rows = product(shape_.heads, shape_.aligned_head);
    const std::uint64_t key_rows = product(shape_.kv_heads, shape_.aligned_head);
    switch (role) {
      case BumpRole::token_emb:
      case BumpRole::output:
        return {embedding, shape_.vocabulary};
      case BumpRole::pos_emb:
        return {shape_.aligned_embedding, shape_.context};
      case BumpRole::wq:
        return {embedding, query_rows};
      case BumpRole::bq:
        return {query_rows};
      case BumpRole::wk:
      case BumpRole::wv:
        return {embedding, key_rows};
      case BumpRole::bk:
      case BumpRole::bv:
        return {key_rows};
      case BumpRole::wo:
        return output_shape(type, query_rows);
      case BumpRole::w1:
        return {embedding, product(2, shape_.aligned_feed_forward)};
      case BumpRole::b1:
        return {product(2, shape_.aligned_feed_forward)};
      case BumpRole::w2:
        return {feed_forward,
                type == TensorType::f32 ? shape_.aligned_embedding : shape_.embedding};
      default:
        return {shape_.aligned_embedding};  // norms and the biases of that width
    }
  }

  std::vector<std::uint64_t> output_shape(TensorType type, std::uint64_t query_rows) {
    if (type != TensorType::f32)
      return {product(shape_.heads, shape_.head_width), shape_.embedding};
    if (!shape_.is_padded()) return {query_rows, shape_.embedding};
    return {shape_.aligned_head, shape_.aligned_embedding, shape_.heads};
  }

  const BumpLayout& layout_;
  const BumpShape& shape_;
  std::size_t next_type_ = 0;
  bool is_good_ = true;
  std::vector<BumpSection> sections_;
};

}  // namespace

std::optional<std::uint64_t> bump_table_entries(const BumpLayout& layout) noexcept {
  if (layout.post_norms > post_norms.size()) return std::nullopt;
  const std::size_t roles =
      layout.has_biases ? full_layer.size() + layout.post_norms : short_layer.size();
  const auto of_layers = checked_mul(layout.shape.layers, roles);
  if (!of_layers) return std::nullopt;
  const std::uint64_t others = (layout.has_biases ? 4u : 2u) + (layout.has_output ? 1u : 0u);
  return checked_add(*of_layers, others);
}

std::vector<TensorType> table_types(
    std::uint64_t layers,
    const std::function<TensorType(std::uint64_t layer, BumpRole role)>& type_of_weight) {
  std::vector<TensorType> types = {type_of_weight(0, BumpRole::token_emb), TensorType::f32};
  for (std::uint64_t layer = 0; layer < layers; ++layer) {
    for (const BumpRole role : full_layer) {
      const bool is_weight = std::ranges::find(weight_roles, role) != weight_roles.end();
      types.push_back(is_weight ? type_of_weight(layer, role) : TensorType::f32);
    }
  }
  types.insert(types.end(), {TensorType::f32, TensorType::f32});  // the last norm and its bias
  return types;
}

bool is_of_layer(BumpRole role) noexcept {
  return role >= BumpRole::ln1_gamma && role <= BumpRole::b2;
}

std::string name_of(const BumpSection& section) {
  const std::string word(role_words[static_cast<std::size_t>(section.role)]);
  return is_of_layer(section.role) ? "layer." + std::to_string(section.layer) + "." + word : word;
}

std::optional<std::vector<BumpSection>> lay_out(const BumpLayout& layout) {
  return Builder(layout).build();
}

std::optional<std::uint64_t> total_bytes(const std::vector<BumpSection>& sections) {
  std::uint64_t total = 0;
  for (const BumpSection& section : sections) {
    const auto sum = checked_add(total, section.size_bytes);
    if (!sum) return std::nullopt;
    total = *sum;
  }
  return total;
}

}  // namespace ingot::formats
