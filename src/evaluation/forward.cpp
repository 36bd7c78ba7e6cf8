// SPDX-License-Identifier: MIT
#include "evaluation/forward.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/checked.hpp"
#include "evaluation/attention.hpp"
#include "evaluation/feed_forward.hpp"
#include "evaluation/recurrent/recurrent.hpp"
#include "evaluation/streams/streams.hpp"

namespace ingot::evaluation {
namespace {

/// y += factor * x
void add_scaled(Panels& y, const Panels& x, float factor) noexcept {
  for (std::size_t panel = 0; panel < x.panel_count(); ++panel) {
    const float* from = x.row(panel, 0);
    float* to = y.row(panel, 0);
    for (std::size_t i = 0; i < x.features() * panel_tokens; ++i) to[i] += factor * from[i];
  }
}

std::vector<std::uint8_t> tokens_of(const Batch& batch) {
  std::vector<std::uint8_t> tokens;
  for (std::size_t panel = 0; panel < batch.panel_count(); ++panel) {
    tokens.push_back(static_cast<std::uint8_t>(batch.tokens_of(panel)));
  }
  return tokens;
}

void scale(Panels& x, float factor, std::size_t features) noexcept {
  for (std::size_t panel = 0; panel < x.panel_count(); ++panel) {
    float* numbers = x.row(panel, 0);
    for (std::size_t i = 0; i < features * panel_tokens; ++i) numbers[i] *= factor;
  }
}

std::span<const float> factors_for(const Network& network, const Batch& batch) {
  return batch.chunk_tokens > network.settings.rope.original_context ? network.long_rope_factors
                                                                     : network.rope_factors;
}

}  // namespace

/// The layers of one pass.
class ForwardPass::Layers {
 public:
  Layers(const Network& network, MatrixWork& work, const Batch& batch)
      : settings_(network.settings),
        tokens_(tokens_of(batch)),
        network_(network),
        work_{settings_, work, batch, tokens_},
        rotation_(settings_.rope, settings_.parts.positions.pairing, false,
                  factors_for(network, batch), batch),
        window_rotation_(settings_.rope, settings_.parts.positions.pairing, true,
                         settings_.parts.positions.factors_spare_windows
                             ? std::span<const float>()
                             : factors_for(network, batch),
                         batch),
        normed_(settings_.width, batch.panel_count()),
        added_(settings_.width, batch.panel_count()) {}

  Result<void> run(const Layer& layer, std::size_t index, Panels& states) {
    if (layer.end_norm.exists()) return run_with_norms_behind(layer, index, states);
    if (layer.streams.exists()) return run_streams(layer, index, states);
    if (settings_.parts.experts.route_inputs) input_ = states.copy();
    INGOT_TRY_VOID(work_.normalise(layer.attention_norm, states, normed_));
    if (layer.mixes()) {
      INGOT_TRY_VOID(mix_tokens(layer, index, states));
      INGOT_TRY_VOID(work_.normalise(layer.post_attention_norm, added_, added_));
    }
    // A feed-forward part without its own norm reads that of attention, or the layer's input.
    const bool has_own = layer.feed_forward_norm.exists();
    const bool is_parallel =
        has_own ? settings_.is_parallel
                : layer.attention_norm.exists() && !layer.post_attention_norm.exists();
    if (is_parallel && has_own) {
      INGOT_TRY_VOID(work_.normalise(layer.feed_forward_norm, states, normed_));
    }
    if (layer.mixes()) add_scaled(states, added_, settings_.residual_scale);
    if (!layer.feeds()) return {};
    if (!is_parallel) {
      INGOT_TRY_VOID(work_.normalise(layer.feed_forward_norm, states, normed_));
    }
    INGOT_TRY_VOID(feed(layer, index, states));
    INGOT_TRY_VOID(work_.normalise(layer.post_feed_forward_norm, added_, added_));
    add_scaled(states, added_, settings_.residual_scale);
    if (layer.input.exists()) {
      INGOT_TRY_VOID(
          apply_layer_input(work_, network_, layer.input, index, states, states, added_));
      add_scaled(states, added_, 1.0F);
    }
    if (layer.output_scale != 1.0F) scale(states, layer.output_scale, settings_.width);
    const std::size_t period = settings_.halving_period;
    if (period > 0 && (index + 1) % period == 0) add_scaled(states, states, -0.5F);
    return {};
  }

 private:
  /// A layer whose norms are those of its sums.
  Result<void> run_with_norms_behind(const Layer& layer, std::size_t index, Panels& states) {
    INGOT_TRY_VOID(
        apply_attention(work_, layer.attention, index, rotation_, states, states, added_));
    add_scaled(added_, states, 1.0F);
    INGOT_TRY_VOID(work_.normalise(layer.sum_norm, added_, normed_));
    if (layer.second_sum_norm.exists()) {
      add_scaled(normed_, states, 1.0F);
      INGOT_TRY_VOID(work_.normalise(layer.second_sum_norm, normed_, normed_));
    }
    INGOT_TRY_VOID(feed(layer, index, normed_));
    add_scaled(added_, normed_, 1.0F);
    return work_.normalise(layer.end_norm, added_, states);
  }

  /// The feed-forward part of a layer, or what it has in its place.
  Result<void> feed(const Layer& layer, std::size_t index, const Panels& states) {
    if (layer.channel_mix.exists()) {
      return apply_channel_mix(work_, layer.channel_mix, normed_, added_);
    }
    if (layer.expert_norm.exists()) return feed_both(layer, index, states);
    if (layer.experts.router.exists()) {
      return apply_experts(work_, layer.experts, normed_, input_ ? *input_ : normed_, added_);
    }
    return feed_forward(work_, layer.feed_forward, index, 0, normed_, tokens_, added_);
  }

  /// A feed-forward part with experts beside it, each with norms of its own. The router reads the
  /// states themselves.
  Result<void> feed_both(const Layer& layer, std::size_t index, const Panels& states) {
    INGOT_TRY_VOID(feed_forward(work_, layer.feed_forward, index, 0, normed_, tokens_, added_));
    INGOT_TRY_VOID(work_.normalise(layer.dense_norm, added_, added_));
    INGOT_TRY_VOID(work_.normalise(layer.expert_norm, states, normed_));
    Panels routed(settings_.width, states.panel_count());
    INGOT_TRY_VOID(work_.normalise({.is_applied = true}, states, routed));
    const std::vector<float>& scales = layer.experts.router_scale;
    const float root = 1.0F / std::sqrt(static_cast<float>(settings_.width));
    INGOT_TRY_VOID(work_.for_each_panel([&](std::size_t panel) {
      for (std::size_t f = 0; f < settings_.width; ++f) {
        const float factor = scales.empty() ? root : root * scales[f];
        for (std::size_t t = 0; t < panel_tokens; ++t) routed.row(panel, f)[t] *= factor;
      }
    }));
    Panels chosen(settings_.width, states.panel_count());
    INGOT_TRY_VOID(apply_experts(work_, layer.experts, normed_, routed, chosen));
    INGOT_TRY_VOID(work_.normalise(layer.post_expert_norm, chosen, chosen));
    add_scaled(added_, chosen, 1.0F);
    return {};
  }

  /// A layer that computes the first of several streams, and corrects the others by it.
  Result<void> run_streams(const Layer& layer, std::size_t index, Panels& states) {
    const StreamMix& mix = layer.streams;
    const std::size_t width = settings_.width;
    Panels predictions(width * network_.stream_count, states.panel_count());
    INGOT_TRY_VOID(predict_streams(work_, mix, states, predictions));
    INGOT_TRY_VOID(work_.normalise(layer.attention_norm, predictions, normed_));
    INGOT_TRY(const Panels narrow, work_.project(mix.side_down, normed_));
    INGOT_TRY(Panels side, work_.project(mix.side_up, narrow));
    INGOT_TRY_VOID(work_.normalise(mix.side_norm, side, side));
    add_scaled(side, normed_, 1.0F);
    INGOT_TRY_VOID(attend(layer, index, states));
    INGOT_TRY_VOID(work_.normalise(layer.post_attention_norm, added_, added_));
    add_scaled(side, added_, 1.0F);
    add_scaled(side, features_of(predictions, 0, width), 1.0F);
    scale(side, 1.0F / std::sqrt(2.0F), width);
    INGOT_TRY_VOID(work_.normalise(layer.feed_forward_norm, side, normed_));
    INGOT_TRY_VOID(feed(layer, index, side));
    INGOT_TRY_VOID(work_.normalise(layer.post_feed_forward_norm, added_, added_));
    add_scaled(side, added_, 1.0F);
    INGOT_TRY_VOID(correct_streams(work_, mix, side, predictions));
    for (std::size_t panel = 0; panel < states.panel_count(); ++panel) {
      for (std::size_t f = 0; f < width; ++f) {
        const float* from = predictions.row(panel, f);
        for (std::size_t t = 0; t < panel_tokens; ++t) {
          normed_.row(panel, f)[t] = from[t] * mix.scale[f];
        }
      }
    }
    INGOT_TRY_VOID(apply_layer_input(work_, network_, layer.input, index, normed_, states, added_));
    copy_features(predictions, 0, predictions.features(), states, 0);
    for (std::size_t panel = 0; panel < states.panel_count(); ++panel) {
      const float* from = added_.row(panel, 0);
      for (std::size_t stream = 1; stream < network_.stream_count; ++stream) {
        float* to = states.row(panel, stream * width);
        for (std::size_t i = 0; i < width * panel_tokens; ++i) to[i] += from[i];
      }
    }
    return {};
  }

  /// Attention, or what a layer has in its place, or beside it.
  Result<void> mix_tokens(const Layer& layer, std::size_t index, Panels& states) {
    if (layer.time_mix.exists()) {
      return apply_time_mix(work_, layer.time_mix, normed_, states, added_);
    }
    if (layer.convolution.exists()) {
      return apply_convolution(work_, layer.convolution, normed_, added_);
    }
    if (layer.delta_net.exists()) {
      return apply_delta_net(work_, layer.delta_net, normed_, added_);
    }
    if (!layer.state_space.exists()) return attend(layer, index, states);
    INGOT_TRY_VOID(apply_state_space(work_, layer.state_space, normed_, added_));
    if (!layer.attention.exists()) return {};
    const Panels read = added_.copy();
    INGOT_TRY_VOID(attend(layer, index, states));
    add_scaled(added_, read, 1.0F);
    return {};
  }

  Result<void> attend(const Layer& layer, std::size_t index, Panels& states) {
    const Rotation& rotation = settings_.windows[index] ? window_rotation_ : rotation_;
    if (!layer.own_attention_norm.exists()) {
      return apply_attention(work_, layer.attention, index, rotation, normed_, states, added_);
    }
    Panels own(settings_.width, states.panel_count());
    INGOT_TRY_VOID(work_.normalise(layer.own_attention_norm, states, own));
    return apply_attention(work_, layer.attention, index, rotation, own, states, added_);
  }

  const Settings& settings_;
  std::vector<std::uint8_t> tokens_;
  const Network& network_;
  LayerWork work_;
  Rotation rotation_;
  Rotation window_rotation_;
  Panels normed_;
  Panels added_;
  std::optional<Panels> input_;  ///< Of the layer, where its router reads that.
};

Result<ForwardPass> ForwardPass::make(const Model& model, const EvaluationOptions& options,
                                      InputObserver observer) {
  INGOT_TRY(Network network, make_network(model));
  network.settings.rounds_cache = options.rounds_cache;
  return ForwardPass(
      std::make_unique<Network>(std::move(network)),
      std::make_unique<MatrixWork>(model, options.thread_count, std::move(observer)));
}

std::uint64_t ForwardPass::memory_for(const Batch& batch) const noexcept {
  const Settings& settings = network_->settings;
  std::uint64_t most_features = 0;
  std::uint64_t most_states = 0;
  std::uint64_t most_columns = settings.width;
  std::uint64_t most_heads = 0;
  for (const Layer& layer : network_->layers) {
    most_features = std::max(most_features, layer.scratch_features());
    most_states = std::max(most_states, layer.state_floats());
    for (const Matrix* matrix : layer.matrices()) {
      most_columns = std::max<std::uint64_t>(most_columns, matrix->columns);
    }
    most_heads =
        std::max<std::uint64_t>(most_heads, layer.attention.key_size + layer.attention.value_size);
  }
  const std::uint64_t features = (7 + 2 * network_->stream_count) * settings.width +
                                 network_->layer_inputs.size * network_->layers.size() +
                                 network_->state_features() + most_features;
  const std::uint64_t tokens = batch.panel_count() * panel_tokens;
  const std::uint64_t chunk_tokens = batch.panels_of_chunk() * panel_tokens;
  const std::uint64_t for_thread =
      std::max<std::uint64_t>(std::uint64_t{1} << 18, group_rows * (most_columns + 16)) +
      chunk_tokens * (most_heads + 2 * panel_tokens) + most_states;
  const std::uint64_t rotations =
      (settings.rope.rotated + settings.rope.window_rotated) * chunk_tokens;
  const std::uint64_t threads = work_->team().thread_count();
  return sizeof(float) * (features * tokens + rotations + threads * for_thread);
}

Result<void> ForwardPass::embed_token(TokenId id, float* row, float* column) const {
  const Matrix& embedding = network_->embedding;
  if (id < 0 || static_cast<std::size_t>(id) >= embedding.row_count) {
    return fail(Errc::index_out_of_range, std::string(embedding.tensor->name),
                "token " + std::to_string(id));
  }
  INGOT_TRY_VOID(work_->decode_tile(embedding, static_cast<std::size_t>(id), 1, row));
  for (std::size_t f = 0; f < embedding.columns; ++f) {
    column[f * panel_tokens] = row[f] * network_->settings.embedding_scale;
  }
  return {};
}

Result<Panels> ForwardPass::embed(const Batch& batch, std::span<const TokenId> ids) {
  const std::size_t width = network_->settings.width;
  const Matrix& positions = network_->positions;
  if (positions.exists() && batch.chunk_tokens > positions.row_count) {
    return fail(Errc::index_out_of_range, std::string(positions.tensor->name),
                "a chunk of " + std::to_string(batch.chunk_tokens) + " tokens; it has " +
                    std::to_string(positions.row_count) + " positions");
  }
  Panels states(network_->state_features(), batch.panel_count());
  std::fill_n(states.data(), states.size(), 0.0F);
  const auto embed_panel = [&](std::uint64_t place, std::uint64_t) -> Result<void> {
    const std::size_t panel = to_size(place);
    BufferPool::Loan row(work_->buffers(), width);
    const std::size_t first =
        panel / batch.panels_of_chunk() * batch.chunk_tokens + batch.position_of(panel);
    const std::vector<float>& type = network_->token_type;
    for (std::size_t lane = 0; lane < batch.tokens_of(panel); ++lane) {
      INGOT_TRY_VOID(embed_token(ids[first + lane], row.data(), states.row(panel, 0) + lane));
      for (std::size_t f = 0; f < type.size(); ++f) states.row(panel, f)[lane] += type[f];
      if (!positions.exists()) continue;
      const std::size_t position = batch.position_of(panel) + lane;
      INGOT_TRY_VOID(work_->decode_tile(positions, position, 1, row.data()));
      for (std::size_t f = 0; f < width; ++f) states.row(panel, f)[lane] += row.data()[f];
    }
    return {};
  };
  INGOT_TRY_VOID(work_->team().spread(batch.panel_count(), 1, embed_panel));
  INGOT_TRY_VOID(normalise_all(network_->embedding_norm, network_->settings, states, states,
                               work_->team(), width));
  if (network_->layer_inputs.size > 0 || network_->stream_count > 1) {
    const std::vector<std::uint8_t> tokens = tokens_of(batch);
    const LayerWork layer_work{network_->settings, *work_, batch, tokens};
    if (network_->layer_inputs.size > 0) {
      INGOT_TRY_VOID(add_layer_inputs(layer_work, *network_, ids, states));
    }
    INGOT_TRY_VOID(split_streams(layer_work, *network_, states));
  }
  return states;
}

Result<Panels> ForwardPass::run(const Batch& batch, std::span<const TokenId> ids,
                                const LayerDone& layer_done) {
  INGOT_TRY(Panels states, embed(batch, ids));
  INGOT_TRY_VOID(run_layers(batch, 0, network_->layers.size(), states, layer_done));
  INGOT_TRY_VOID(finish(states));
  return states;
}

Result<void> ForwardPass::run_layers(const Batch& batch, std::size_t first, std::size_t end,
                                     Panels& states, const LayerDone& layer_done) {
  if (first == end) return {};
  Layers layers(*network_, *work_, batch);
  for (std::size_t i = first; i < end; ++i) {
    INGOT_TRY_VOID(layers.run(network_->layers[i], i, states));
    if (layer_done && !layer_done()) return fail(Errc::interrupted, {});
  }
  return {};
}

Result<void> ForwardPass::finish(Panels& states) {
  const Batch no_batch;
  INGOT_TRY_VOID(merge_streams({network_->settings, *work_, no_batch, {}}, *network_, states));
  return normalise_all(network_->output_norm, network_->settings, states, states, work_->team(),
                       network_->settings.width);
}

void ForwardPass::make_logits(const WeightRows& rows, std::size_t first_row, const float* x,
                              float* y) const noexcept {
  MatrixWork::multiply_tile(network_->output, rows, first_row, x, y);
  const std::span logits(y, rows.row_count * panel_tokens);
  const float scale = network_->settings.logit_scale;
  if (scale != 1.0F) {
    for (float& logit : logits) logit *= scale;
  }
  apply_cap(network_->settings.logit_cap, logits);
}

}  // namespace ingot::evaluation
