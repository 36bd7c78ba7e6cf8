// SPDX-License-Identifier: MIT
// The weights of a network: those that the row of its architecture names, of the shapes that it
// tells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "evaluation/settings.hpp"
#include "ingot/model.hpp"

namespace ingot::evaluation {

/// Rows of a tensor that are one matrix: all of it, a part of a fused one, or one expert.
struct Matrix {
  const TensorInfo* tensor = nullptr;
  std::size_t first_row = 0;
  std::size_t row_count = 0;
  std::size_t columns = 0;
  std::vector<float> bias = {};    ///< A number for each row, of each expert, or empty.
  float scale = 1.0F;              ///< Of all rows.
  std::vector<float> scales = {};  ///< For each expert, or empty.
  std::size_t expert_rows = 0;     ///< Rows from an expert to the next; 0: row_count.
  bool is_later_part = false;      ///< The first part of a fused tensor stands for all.

  [[nodiscard]] bool exists() const noexcept { return tensor != nullptr; }
  /// The rows of one expert, or of one head.
  [[nodiscard]] Matrix of_expert(std::size_t expert) const;
  /// Some of the rows.
  [[nodiscard]] Matrix part(std::size_t first, std::size_t count) const;
};

/// A norm that is not applied leaves its input as it is.
struct Norm {
  std::vector<float> weight = {};  ///< Empty: 1
  std::vector<float> bias = {};    ///< Empty: 0
  bool is_applied = false;
  std::size_t row_size = 0;  ///< Features that a row of weights is for.

  [[nodiscard]] bool exists() const noexcept { return is_applied; }
};

/// `down(activation(gate(x)) * up(x))`, or `down(activation(up(x)))`
struct FeedForward {
  Matrix gate = {};
  Matrix up = {};
  Matrix down = {};
  Norm inner_norm = {};  ///< Before `down`.
};

struct Experts {
  Matrix router;
  std::vector<float> router_scale;  ///< Of what the router reads: the layer's states; or empty.
  Matrix latent_down;               ///< Optional: makes the narrow inputs of the chosen experts.
  Matrix latent_up;
  std::vector<float> selection_bias;  ///< Added to shares where experts are chosen.
  FeedForward chosen;                 ///< The matrices of all experts.
  FeedForward shared;                 ///< Optional: of all tokens.
  std::vector<float> shared_router;   ///< Optional: the gate of the shared expert.
  std::size_t count = 0;
};

/// Queries, or keys and values, that come from a narrow vector.
struct Narrow {
  Matrix down;
  Norm norm;
  Matrix up;
};

struct Attention {
  Matrix query;
  Matrix key;
  Matrix value;
  Narrow narrow_query;    ///< In place of `query`.
  Narrow narrow_values;   ///< In place of `key` and `value`; `down` also has a rotated key.
  Matrix absorbed_key;    ///< For each head: what turns queries into such of the narrow vector.
  Matrix absorbed_value;  ///< For each head: what makes a value of the narrow vector.
  Norm query_norm;
  Norm key_norm;
  std::vector<float> sinks;  ///< For each head, a score that takes part without a value.
  Norm output_norm;          ///< Before `output`.
  Matrix output;
  std::size_t head_count = 0;
  std::size_t kv_head_count = 0;
  std::size_t key_size = 0;      ///< Elements of a query and of a key.
  std::size_t value_size = 0;    ///< Elements of a value.
  std::size_t rotated_from = 0;  ///< The first element of a head that rotates.
  float scale = 0.0F;
  std::size_t kept_at = 0;       ///< Where keys and values that layers share are in the states.
  bool keeps = false;            ///< Later layers use its keys and values.
  bool has_kept = false;         ///< It uses those of an earlier layer.
  bool values_are_keys = false;  ///< Before their norm and rotation.

  [[nodiscard]] bool exists() const noexcept { return output.exists(); }
  [[nodiscard]] bool is_narrow() const noexcept { return narrow_values.down.exists(); }
};

/// For each feature a weighted sum of the last few tokens.
struct Convolution {
  std::vector<float> kernel;  ///< For each feature, the oldest token first.
  std::vector<float> bias;    ///< Empty: 0
  std::size_t taps = 0;       ///< Tokens of a sum.

  [[nodiscard]] std::size_t features() const noexcept {
    return taps == 0 ? 0 : kernel.size() / taps;
  }
};

/// Gated inputs, mixed with the tokens right before.
struct ShortConvolution {
  Matrix in;  ///< The gate of inputs, that of outputs, and the values.
  Convolution convolution;
  Matrix out;

  [[nodiscard]] bool exists() const noexcept { return in.exists(); }
};

/// A state for each feature, which fades and takes in values (Mamba). A head has features with the
/// same steps.
struct StateSpace {
  Matrix in;                ///< Gates and values; without `mix`, inputs, outputs and steps, too.
  Convolution convolution;  ///< Of values; without `mix`, of inputs and outputs, too.
  Matrix mix;               ///< Optional: makes inputs, outputs and narrow steps of the values.
  Norm step_norm;
  Norm input_norm;
  Norm output_norm;
  Matrix step;  ///< Of narrow steps.
  std::vector<float> step_bias;
  std::vector<float> decay;  ///< For each head, or for each element of the state of each.
  std::vector<float> skip;   ///< For each head, the part of the values that passes by.
  Norm norm;                 ///< Of each group of gated outputs.
  Matrix out;
  std::size_t head_count = 0;
  std::size_t head_size = 0;
  std::size_t state_size = 0;   ///< Elements of the state of a feature.
  std::size_t group_count = 1;  ///< Heads of a group have the same inputs and outputs.

  [[nodiscard]] bool exists() const noexcept { return in.exists(); }
};

/// A state for each head, which fades and is corrected: at its key, a token brings what is read
/// closer to its value (the gated delta rule).
struct DeltaNet {
  std::vector<Matrix> in;     ///< Of queries, keys and values, together or one by one.
  Convolution convolution;    ///< Of queries, keys and values.
  std::vector<Matrix> gate;   ///< One behind the other. Empty: `in` makes the gates, too.
  std::vector<Matrix> decay;  ///< One behind the other: for each head or element of its keys.
  Matrix strength;            ///< For each head.
  Matrix rates;               ///< Strengths and decays in place of both.
  std::vector<float> decay_bias;
  std::vector<float> decay_factor;  ///< For each head.
  Norm norm;                        ///< Of what a head reads.
  Matrix out;
  std::size_t head_count = 0;
  std::size_t key_head_count = 0;  ///< Heads share keys and queries.
  std::size_t head_size = 0;

  [[nodiscard]] bool exists() const noexcept { return out.exists(); }
};

/// Two matrices over a narrow vector.
struct LowRank {
  Matrix down;
  Matrix up;
  std::vector<float> bias;  ///< Behind `up`, or empty.
};

/// The layer of RWKV that mixes tokens: states that fade (6), and are corrected, too (7).
struct TimeMix {
  std::vector<float> shifts;  ///< For each projection, how much of the token before it takes.
  LowRank shift;              ///< Of RWKV 6: what tokens add to that; its bias mixes its inputs.
  Matrix query;
  Matrix key;
  Matrix value;
  Matrix gate;          ///< Of RWKV 6.
  LowRank narrow_gate;  ///< Of RWKV 7, or none.
  LowRank decay;
  LowRank rate;                      ///< How far a state is corrected.
  LowRank residual;                  ///< How far values lean to those of the first layer.
  std::vector<float> place_weights;  ///< Make of keys the places where a state is corrected.
  std::vector<float> rate_weights;   ///< Let keys grow with the rates.
  std::vector<float> bonus;          ///< The weight of a token's own value; empty: none.
  Norm norm;                         ///< Of each head.
  Matrix out;
  std::size_t head_count = 0;
  std::size_t head_size = 0;

  [[nodiscard]] bool exists() const noexcept { return out.exists(); }
  [[nodiscard]] bool corrects() const noexcept { return !place_weights.empty(); }
};

/// The feed-forward part of RWKV.
struct ChannelMix {
  std::vector<float> key_shift;
  std::vector<float> receptance_shift;
  Matrix receptance;  ///< Optional: gates of the outputs.
  Matrix key;
  Matrix value;

  [[nodiscard]] bool exists() const noexcept { return key.exists(); }
};

/// What a layer makes of an input of its own: out(gelu(gate(x)) * input).
struct LayerInput {
  Matrix gate;
  Matrix out;
  Norm norm;

  [[nodiscard]] bool exists() const noexcept { return gate.exists(); }
};

/// The inputs of all layers: of the token, and of its embedding.
struct LayerInputs {
  std::size_t size = 0;  ///< Features of the input of a layer; 0: they have none.
  Matrix embedding;
  Matrix projection;
  Norm norm;
};

/// How a layer that computes one of several streams of states changes the others.
struct StreamMix {
  Norm router_norm;
  Matrix router;
  Matrix prediction;
  Matrix correction;
  std::vector<float> scale;  ///< Of the first stream, where it gets the input of the layer.
  Matrix side_down;          ///< What goes beside attention.
  Matrix side_up;
  Norm side_norm;

  [[nodiscard]] bool exists() const noexcept { return router.exists(); }
};

struct Layer {
  Norm attention_norm;
  Norm own_attention_norm;  ///< Of attention alone, where the other one is for both parts.
  Attention attention;
  ShortConvolution convolution;  ///< In place of attention.
  StateSpace state_space;        ///< In place of attention, or beside it.
  DeltaNet delta_net;            ///< In place of attention.
  TimeMix time_mix;              ///< In place of attention.
  Norm post_attention_norm;
  Norm feed_forward_norm;
  FeedForward feed_forward;
  Experts experts;
  ChannelMix channel_mix;  ///< In place of the feed-forward part.
  Norm post_feed_forward_norm;
  Norm sum_norm;         ///< Of the sum of the layer's input and its attention.
  Norm second_sum_norm;  ///< Of that and the input once more, or missing.
  Norm end_norm;         ///< Of what the layer makes.
  Norm dense_norm;       ///< Behind the feed-forward part that is beside experts.
  Norm expert_norm;      ///< Before those experts.
  Norm post_expert_norm;
  LayerInput input;
  StreamMix streams;
  float output_scale = 1.0F;  ///< Of all that the layer makes.

  /// Whether it mixes the tokens of a chunk.
  [[nodiscard]] bool mixes() const noexcept {
    return attention.exists() || convolution.exists() || state_space.exists() ||
           delta_net.exists() || time_mix.exists();
  }
  /// Whether it has a feed-forward part.
  [[nodiscard]] bool feeds() const noexcept {
    return feed_forward.up.exists() || experts.router.exists() || channel_mix.exists();
  }
  /// The matrices that are worth quantizing: all but routers.
  [[nodiscard]] std::vector<const Matrix*> matrices() const;
  /// Features that a pass makes of a token, at most.
  [[nodiscard]] std::uint64_t scratch_features() const;
  /// Floats of the state of a head.
  [[nodiscard]] std::uint64_t state_floats() const noexcept;
};

struct Network {
  Settings settings;
  Matrix embedding;
  Matrix positions;               ///< Learned, a row for each position, or missing.
  std::vector<float> token_type;  ///< Added to each token, or empty.
  Norm embedding_norm;
  std::vector<Layer> layers;
  Norm output_norm;
  Matrix output;
  LayerInputs layer_inputs;
  std::size_t stream_count = 1;     ///< Streams of states.
  Matrix split;                     ///< For each stream but the first, what makes it.
  Matrix merge;                     ///< For each, what it adds to the first one in the end.
  std::size_t kept_features = 0;    ///< Of keys and values that layers share.
  std::vector<Matrix> heads;        ///< Of the vector of a text, one behind the other.
  std::vector<float> rope_factors;  ///< Divisors of the frequencies; empty: 1
  std::vector<float> long_rope_factors;

  [[nodiscard]] std::size_t vocabulary_size() const noexcept { return embedding.row_count; }
  /// Where the inputs of the layers are in the states.
  [[nodiscard]] std::size_t inputs_at() const noexcept { return settings.width * stream_count; }
  /// Where keys and values are that layers share.
  [[nodiscard]] std::size_t kept_at() const noexcept {
    return inputs_at() + layer_inputs.size * layers.size();
  }
  /// Features of the states of a token: those that go from layer to layer, and those that a layer
  /// leaves behind them for later ones.
  [[nodiscard]] std::size_t state_features() const noexcept;
};

/// The error for a network that predicts no tokens.
[[nodiscard]] Result<void> check_predicts(const Network& network);

/// Finds all weights of a model, which must live as long as the network.
/// @return errors that name the key or tensor: the errors of read_settings, a missing tensor, a
///          shape that contradicts the keys, or a tensor that the architecture does not know.
[[nodiscard]] Result<Network> make_network(const Model& model);

}  // namespace ingot::evaluation
