// SPDX-License-Identifier: MIT
// The differences between architectures: one row of switches for each.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ingot::evaluation {

enum class NormKind : std::uint8_t {
  rms,   ///< Divided by the root of the mean square.
  layer  ///< Mean removed first.
};

/// Elements of a head that rotate together.
enum class Pairing : std::uint8_t {
  neighbours,  ///< 0 with 1, 2 with 3, ...
  halves       ///< Element i of the first half with element i of the second.
};

enum class Gate : std::uint8_t { silu, gelu };

/// The norm of queries and keys before their rotation.
enum class HeadNorm : std::uint8_t {
  none,
  each,      ///< Each head has a norm, with the same weights.
  whole,     ///< All heads are one vector with one norm.
  optional,  ///< Each head has a norm with its own weights, if the file has them.
};

enum class AttentionScale : std::uint8_t {
  head,    ///< 1 / sqrt(elements of a head)
  key,     ///< The key `attention.scale`; `head` if there is none, or if it is 0.
  gemma2,  ///< `head`, but 1 / sqrt(width / heads) in the model of 46 layers.
  gemma3   ///< `head`, but 1 / sqrt(width / heads) in the model of 62 layers.
};

enum class EmbeddingScale : std::uint8_t {
  none,
  root,  ///< sqrt(width)
  key    ///< The key `embedding_scale`; 1 if there is none.
};

/// The weights of the experts of a token.
enum class ExpertWeights : std::uint8_t {
  none,        ///< The architecture has no experts.
  shares,      ///< Softmax over all experts.
  normalised,  ///< The chosen probabilities, divided by their sum.
};

struct Architecture {
  std::string_view name = {};  ///< Value of `general.architecture`.
  NormKind norm = NormKind::rms;
  Pairing pairing = Pairing::halves;
  Gate gate = Gate::silu;
  HeadNorm head_norm = HeadNorm::none;
  AttentionScale attention_scale = AttentionScale::head;
  EmbeddingScale embedding_scale = EmbeddingScale::none;
  ExpertWeights expert_weights = ExpertWeights::none;
  bool may_lack_experts = false;       ///< The architecture also has models without experts.
  bool has_shared_expert = false;      ///< There is an expert that all tokens use, behind a gate of
                                       ///< its own.
  bool has_pre_norms = true;           ///< Norms before attention and feed-forward.
  bool has_post_norms = false;         ///< Norms after them, before the residual is added.
  bool may_be_parallel = false;        ///< A layer without `ffn_norm` feeds the norm of attention
                                       ///< to both parts.
  bool has_fused_gate = false;         ///< `ffn_up` holds the rows of the gate, then its own.
  bool is_always_tied = false;         ///< The embedding is the output matrix.
  bool needs_output = false;           ///< There is an output matrix of its own.
  bool has_granite_scales = false;     ///< The keys `residual_scale` and `logit_scale`.
  bool caps_logits = false;            ///< The keys `attn_logit_softcapping`, `final_logit_...`.
  std::uint32_t unrotated_period = 0;  ///< Every n-th layer has no rotation.
  std::uint32_t window_period = 0;     ///< All layers but every n-th have a window.
  std::uint32_t usual_window = 0;      ///< Tokens, if no key gives a number.
  bool window_is_scaled = false;       ///< Positions are scaled in layers with a window, too.
  /// Base of the rotation in layers with a window, without a key of its own; 0: that of the others.
  double window_rope_base = 0.0;
};

[[nodiscard]] std::span<const Architecture> known_architectures() noexcept;

/// nullptr if the architecture is unknown.
[[nodiscard]] const Architecture* find_architecture(std::string_view name) noexcept;

/// "llama, qwen2, ..."
[[nodiscard]] std::string names_of_known_architectures();

}  // namespace ingot::evaluation
