// SPDX-License-Identifier: MIT
// What a forward pass is composed of: facts for each part of a layer, set by the words of the
// statement `pass` in a row of the house. What tensors and their shapes tell is no fact here.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ingot/architectures.hpp"
#include "ingot/error.hpp"

namespace ingot::evaluation {

enum class NormKind : std::uint8_t {
  rms,   ///< Divided by the root of the mean square.
  layer  ///< Mean removed first.
};

struct NormFacts {
  NormKind kind = NormKind::rms;  ///< Follows from the key of the epsilon that a row requires.
  bool lack_weights = false;      ///< Norms without a tensor are computed, too.
  bool are_behind = false;        ///< Norms of the sums that a layer makes, not of its inputs.
  /// The tensor of the norm before the feed-forward part.
  std::string_view feed_forward_name = "ffn_norm";
};

/// Elements of a head that rotate together.
enum class Pairing : std::uint8_t {
  halves,      ///< Element i of the first half with element i of the second.
  neighbours,  ///< 0 with 1, 2 with 3, ...
  none         ///< There is no rotation.
};

/// How the pairs of a head are divided among the coordinates of images: `rope.dimension_sections`
/// has the sizes. Tokens of texts have one position for the first three, and 0 for the fourth.
enum class Sections : std::uint8_t {
  none,
  in_turn,     ///< First all pairs of one coordinate.
  interleaved  ///< A pair of each of three, again and again; the rest are of the fourth.
};

struct PositionFacts {
  bool yarn_scales_attention = false;  ///< YaRN makes scores grow, too.
  Pairing pairing = Pairing::halves;
  Sections sections = Sections::none;
  std::uint32_t unrotated_period = 0;  ///< Every n-th layer has no rotation.
  bool rotates_only_windows = false;   ///< In models with windows, other layers have no rotation.
  bool may_lack_rotation = false;      ///< The key `rope.scaling.finetuned` switches it off.
  double window_base = 0.0;            ///< Of layers with a window; 0: that of the others.
  bool factors_spare_windows = false;  ///< The divisors of frequencies are for other layers.
  bool window_is_scaled = false;       ///< Positions are scaled in layers with a window, too.
  std::optional<double> largest_bias = {};  ///< Of ALiBi, where the key is missing.
  std::uint32_t biased_layers = 0;          ///< Models of so many layers have ALiBi (8) instead.
};

enum class AttentionScale : std::uint8_t {
  head,     ///< 1 / sqrt(elements of a head)
  key,      ///< The key `attention.scale`; `head` if there is none, or if it is 0.
  gemma2,   ///< `head`, but 1 / sqrt(width / heads) in the model of 46 layers.
  one,      ///< 1
  inverse,  ///< 1 / elements of a head
  gemma3    ///< `head`, but 1 / sqrt(width / heads) in the model of 62 layers.
};

struct AttentionFacts {
  AttentionScale scale = AttentionScale::head;
  double cap = 0.0;                    ///< Of scores, where the key is missing; 0: none.
  bool norms_after_rotation = false;   ///< Queries and keys rotate before their norms.
  bool has_plain_norms = false;        ///< Rotated queries and keys have a norm without weights.
  bool has_value_norms = false;        ///< Values have a norm without weights.
  bool clamps = false;                 ///< The key `attention.clamp_kqv` bounds the projections.
  std::uint32_t chunk = 0;             ///< A window is a chunk of so many tokens.
  bool has_gated_queries = false;      ///< Each head's query has a gate of its output behind it.
  bool cools_late = false;             ///< Queries grow with their position where nothing rotates.
  bool cools_by_key = false;           ///< They do everywhere, by `attention.temperature_scale`.
  bool may_see_later = false;          ///< Tokens see later ones if `attention.causal` is false.
  bool sees_later = false;             ///< They always do.
  bool has_symmetric_windows = false;  ///< Half a window lies before a token, half behind it.
  std::uint32_t window_period = 0;     ///< Of layers with a window, for encoders; 0: by the row.
  bool is_first_full = false;          ///< The first layer of a period has no window, not the last.
};

enum class Activation : std::uint8_t {
  silu,
  gelu,  ///< The approximation by tanh.
  relu,
  relu_squared,
  xielu,          ///< With numbers for each layer.
  clamped_swiglu  ///< The gate of gpt-oss, with bounds.
};

enum class Routing : std::uint8_t {
  softmax,
  sigmoid,
  softmax_of_chosen  ///< The softmax runs over the chosen experts alone.
};

struct ExpertFacts {
  Routing routing = Routing::softmax;  ///< Where the key `expert_gating_func` is missing.
  bool are_normalised = false;         ///< Chosen shares are divided by their sum.
  bool read_key = false;               ///< The key `expert_weights_norm` says whether.
  bool rank_by_logits = false;         ///< Logits, not shares, choose.
  bool weigh_inputs = false;           ///< Shares multiply inputs, not outputs.
  bool route_inputs = false;           ///< The router reads what the layer gets, before attention.
};

/// The order of what the first matrices of a state-space layer make.
struct StateSpaceFacts {
  bool alternates_heads = false;  ///< The gates of a head and its values, then those of the next.
  bool steps_last = false;        ///< Steps are behind inputs and outputs.
};

struct DeltaNetFacts {
  bool tiles_keys = false;         ///< Head i has key i modulo the keys, not a neighbour's.
  bool has_sigmoid_gates = false;  ///< Gates of outputs; otherwise SiLU.
};

/// The numbers that embeddings, residuals and logits are multiplied by.
struct ScaleFacts {
  bool embedding_by_root = false;  ///< sqrt(width)
  double embedding = 0.0;          ///< Where the key is missing; 0: there is no key.
  bool residual_by_key = false;    ///< The key `residual_scale`
  double residual_of_depth = 0.0;  ///< Divided by sqrt(layers), where the key is missing.
  bool logits_divided = false;     ///< By the key `logit_scale`
  bool logits_multiplied = false;  ///< The same key as a factor.
  double base_width = 0.0;         ///< The logits are divided by width / this if there is no key.
  double logit_cap = 0.0;          ///< Where the key is missing; 0: none.
  bool halves_states = false;      ///< After every n-th layer, by the key `rescale_every_n_layers`.
};

struct Parts {
  NormFacts norms;
  PositionFacts positions;
  AttentionFacts attention;
  Activation activation = Activation::silu;
  std::uint32_t sparse_layers = 0;  ///< In so many layers only the largest gates count.
  bool has_unbiased_ffn = false;    ///< Biases of the feed-forward part do not count.
  bool reads_activation = false;    ///< The key `hidden_activation` may say "silu".
  ExpertFacts experts;
  StateSpaceFacts state_space;
  DeltaNetFacts delta_net;
  ScaleFacts scales;
};

/// The parts that a row names. @return an error that names a word which is not known.
[[nodiscard]] Result<Parts> parts_of(const Architecture& row);

}  // namespace ingot::evaluation
