// SPDX-License-Identifier: MIT
// A model at a glance.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ingot/export.h"
#include "ingot/model.hpp"

namespace ingot {

/// A number that is one for the whole model or differs from layer to layer.
struct LayerNumber {
  std::uint64_t minimum = 0;
  std::uint64_t maximum = 0;
  bool is_per_layer = false;  ///< Stored as an array, one element a layer.
};

/// The share of one tensor type in a model.
struct TypeShare {
  TensorType type = TensorType::f32;
  std::uint64_t tensor_count = 0;
  std::uint64_t element_count = 0;
  std::uint64_t size_bytes = 0;
};

/// Facts read from metadata and tensor table. A field is empty when the file lacks the fact, or has
/// it with a value of a type that makes no sense. Strings are views into the model, raw bytes.
struct Summary {
  std::optional<std::string_view> name;
  std::optional<std::string_view> architecture;
  std::uint64_t parameter_count = 0;  ///< Elements of all tensors.
  std::uint64_t tensor_bytes = 0;
  std::optional<double> bits_per_weight;   ///< Over all tensors; empty without elements.
  std::optional<std::uint64_t> file_type;  ///< `general.file_type`
  std::optional<std::uint64_t> context_length;
  std::optional<std::uint64_t> block_count;
  std::optional<std::uint64_t> embedding_length;
  std::optional<LayerNumber> feed_forward_length;
  std::optional<LayerNumber> head_count;
  std::optional<LayerNumber> head_count_kv;
  std::optional<std::uint64_t> expert_count;
  std::optional<std::uint64_t> expert_used_count;
  std::optional<std::uint64_t> vocab_size;  ///< `<arch>.vocab_size`, else the tokens' count.
  std::optional<std::string_view> tokenizer_model;
  std::optional<std::string_view> tokenizer_pre;
  std::optional<std::uint64_t> token_count;
  std::optional<std::uint64_t> merge_count;
  bool has_chat_template = false;
  std::vector<TypeShare> types;  ///< Largest size_bytes first.
};

/// Linear in the tensors and in per-layer arrays; allocates only `types`.
[[nodiscard]] INGOT_EXPORT Summary summarize(const Model& model);

/// The key `<architecture>.<suffix>`; nullptr if there is no architecture or no such key.
[[nodiscard]] INGOT_EXPORT const Value* find_architecture_key(const Model& model,
                                                              std::string_view suffix);

}  // namespace ingot
