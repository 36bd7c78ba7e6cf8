// SPDX-License-Identifier: MIT
// Chooses the type that each tensor of a model gets when the model is quantized (target
// ingot::convert).
//
// A recipe is a named mixture of types, such as Q4_K_M. The type of a tensor is a pure function of
// names, shapes, a few facts about the model and the user's options: nothing here reads a weight.
//
// Source of the rules: llama.cpp of August 2026 (src/llama-quant.cpp); docs/quantize.md has them as
// tables. They work for unknown architectures, too, with fewer refinements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ingot/error.hpp"
#include "ingot/export.h"
#include "ingot/model.hpp"
#include "ingot/tensor.hpp"
#include "ingot/types.hpp"

namespace ingot {

/// A named mixture of types.
struct Recipe {
  std::string_view name;         ///< The name that llama.cpp's tool uses, e.g. "Q4_K_M".
  std::string_view description;  ///< A few words for a list.
  TensorType base = TensorType::f32;
  /// `general.file_type`; empty for COPY, which keeps that of the model.
  std::optional<std::uint32_t> file_type;

  /// Whether tensors stay as they are (COPY).
  [[nodiscard]] bool is_copy() const noexcept { return !file_type.has_value(); }
};

/// Every recipe, by ascending file type, COPY last.
[[nodiscard]] INGOT_EXPORT std::span<const Recipe> recipes() noexcept;

/// The recipe of a name, in any case, or of a file type's number. Q3_K, Q4_K and Q5_K mean the _M
/// mixtures, MXFP4 means MXFP4_MOE. nullptr if there is none.
[[nodiscard]] INGOT_EXPORT const Recipe* find_recipe(std::string_view name_or_number) noexcept;

/// The recipe of a `general.file_type`; nullptr if there is none.
[[nodiscard]] INGOT_EXPORT const Recipe* find_recipe(std::uint32_t file_type) noexcept;

/// The role of a tensor, by its name. The first that fits, in this order.
enum class TensorRole : std::uint8_t {
  output,           ///< exactly `output.weight`
  token_embedding,  ///< exactly `token_embd.weight` or `per_layer_token_embd.weight`
  attention_value,  ///< `attn_qkv.weight`, `attn_kv_b.weight`, `attn_v.weight`
  attention_key,
  attention_query,
  attention_output,
  ffn_up,
  ffn_gate,
  ffn_down,
  other
};

[[nodiscard]] INGOT_EXPORT TensorRole role_of(std::string_view tensor_name) noexcept;

/// The facts about a model that rules depend on. 0 where the model lacks them.
struct ModelTraits {
  std::string architecture;
  std::uint64_t block_count = 0;    ///< 0: the highest `blk.N.` counts.
  std::uint64_t head_count = 0;     ///< The number of heads of the first layer.
  std::uint64_t head_count_kv = 0;  ///< The number of key-value heads of the first layer.
  std::uint64_t expert_count = 0;
};

/// Read from the metadata. O(1).
[[nodiscard]] INGOT_EXPORT ModelTraits traits_of(const Model& model);

/// A type for tensors whose name a pattern finds.
struct TypePattern {
  std::string pattern;  ///< ECMAScript regular expression without back references; searched for in
                        ///< the name.
  TensorType type = TensorType::f32;
};

/// Changes to a recipe.
struct RecipeOptions {
  bool is_pure = false;                        ///< The base type for all, no mixture.
  bool leaves_output = false;                  ///< `output.weight` stays as it is.
  bool has_importance = false;                 ///< There is an importance matrix; some rules ask.
  std::optional<TensorType> output_type = {};  ///< Final: never replaced to fit a shape.
  std::optional<TensorType> token_embedding_type = {};  ///< Final as well.
  std::vector<TypePattern> patterns = {};               ///< The first that matches counts.
};

template <class Visitor>
void describe_options(Visitor& visit, RecipeOptions& options) {
  visit("pure", options.is_pure);
  visit("leave_output_tensor", options.leaves_output);
  visit("output_tensor_type", options.output_type);
  visit("token_embedding_type", options.token_embedding_type);
  visit("tensor_type", options.patterns);
}

/// Why a tensor gets its type.
enum class TypeReason : std::uint8_t {
  copied,            ///< the recipe is COPY
  one_dimension,     ///< kept: norms and biases
  kept_name,         ///< kept: its name is not one of a matrix that may be quantized
  kept_output,       ///< kept: leaves_output
  not_floats,        ///< kept: integers
  embedding_option,  ///< token_embedding_type
  output_option,     ///< output_type
  pattern,           ///< one of the caller's patterns
  base,              ///< the base type of the recipe
  mixture,           ///< a rule of the recipe for its role
  target             ///< chosen for a target size
};

/// The name of a reason, e.g. "kept_output".
[[nodiscard]] INGOT_EXPORT std::string_view name_of(TypeReason reason) noexcept;

struct TypeChoice {
  TensorType type = TensorType::f32;
  TypeReason reason = TypeReason::base;
  TensorRole role = TensorRole::other;
  std::size_t pattern = 0;  ///< Position in RecipeOptions::patterns if that is the reason.
  /// The type that was chosen first, if rows are not whole blocks of it.
  std::optional<TensorType> instead_of = {};

  /// Whether the tensor is one that the recipe quantizes, and not kept.
  [[nodiscard]] bool is_considered() const noexcept { return reason > TypeReason::not_floats; }
};

/// One sentence for people: "rule for attention values", "rows of 80 are not whole blocks of Q4_K".
[[nodiscard]] INGOT_EXPORT std::string explain(const TypeChoice& choice, const TensorInfo& tensor,
                                               const RecipeOptions& options);

/// The order in which tensors are counted by the rules and written: by the N of `blk.N` (those
/// without first), then by name. Positions in `tensors`.
[[nodiscard]] INGOT_EXPORT std::vector<std::size_t> quantize_order(
    std::span<const TensorInfo> tensors);

/// Chooses a type for each tensor; the result is in their order. Of a tensor, name, shape and type
/// are looked at.
///
/// @return  Errc::invalid_argument for a pattern that is no regular expression;
///          Errc::type_does_not_fit if rows are not whole blocks of a type that has no fallback.
///
/// O(n log n) in the tensors, times the patterns.
[[nodiscard]] INGOT_EXPORT Result<std::vector<TypeChoice>> choose_types(
    std::span<const TensorInfo> tensors, const ModelTraits& traits, const Recipe& recipe,
    const RecipeOptions& options);

/// Whether a tensor of that type and role is so poor without importance weights that making it is
/// refused. The output and token embeddings are excused as far as their type can do without.
[[nodiscard]] INGOT_EXPORT bool demands_importance(TensorType type, TensorRole role,
                                                   const Recipe& recipe) noexcept;

/// Whether a model file may be quantized to the type: not integers, F64 or types that are only used
/// while computing.
[[nodiscard]] INGOT_EXPORT bool is_quantize_target(TensorType type) noexcept;

}  // namespace ingot
