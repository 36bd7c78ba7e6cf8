// SPDX-License-Identifier: MIT
#include "evaluation/streams/streams.hpp"

#include <cmath>

namespace ingot::evaluation {
namespace {

/// Multiplies features of a panel, each token by its own factor.
void scale_tokens(float* x, std::size_t features, const float* factors) {
  for (std::size_t f = 0; f < features; ++f) {
    for (std::size_t t = 0; t < panel_tokens; ++t) x[f * panel_tokens + t] *= factors[t];
  }
}

/// The length of each token of a panel.
void measure(const float* x, std::size_t features, float* lengths) {
  std::fill_n(lengths, panel_tokens, 0.0F);
  for (std::size_t f = 0; f < features; ++f) {
    for (std::size_t t = 0; t < panel_tokens; ++t) {
      lengths[t] += x[f * panel_tokens + t] * x[f * panel_tokens + t];
    }
  }
  for (std::size_t t = 0; t < panel_tokens; ++t) lengths[t] = std::sqrt(lengths[t]);
}

/// Gives the tokens of a stream the lengths of those of the first one.
void adjust_lengths(const Panels& first, Panels& stream) {
  for (std::size_t panel = 0; panel < stream.panel_count(); ++panel) {
    float wanted[panel_tokens];
    float found[panel_tokens];
    measure(first.row(panel, 0), stream.features(), wanted);
    measure(stream.row(panel, 0), stream.features(), found);
    for (std::size_t t = 0; t < panel_tokens; ++t) wanted[t] /= found[t];
    scale_tokens(stream.row(panel, 0), stream.features(), wanted);
  }
}

/// The shares of the streams of each token: tanh(router * norm(x) / width).
Result<Panels> route(const LayerWork& layer_work, const StreamMix& mix, const Panels& x) {
  const std::size_t width = layer_work.settings.width;
  Panels normed(width, x.panel_count());
  INGOT_TRY_VOID(layer_work.normalise(mix.router_norm, x, normed));
  for (std::size_t i = 0; i < normed.size(); ++i) normed.data()[i] /= static_cast<float>(width);
  INGOT_TRY(Panels shares, layer_work.project(mix.router, normed));
  for (std::size_t i = 0; i < shares.size(); ++i) shares.data()[i] = std::tanh(shares.data()[i]);
  return shares;
}

}  // namespace

Result<void> add_layer_inputs(const LayerWork& layer_work, const Network& network,
                              std::span<const TokenId> ids, Panels& states) {
  const LayerInputs& inputs = network.layer_inputs;
  const Settings& settings = network.settings;
  const std::size_t width = settings.width;
  const std::size_t size = inputs.size;
  const std::size_t all = size * network.layers.size();
  const Panels embeddings = features_of(states, 0, width);
  INGOT_TRY(Panels made, layer_work.project(inputs.projection, embeddings));
  const float scale = 1.0F / std::sqrt(static_cast<float>(width));
  const float token_scale = std::sqrt(static_cast<float>(size));
  const float share = 1.0F / std::sqrt(2.0F);
  const Batch& batch = layer_work.batch;
  const auto add = [&](std::uint64_t item, std::uint64_t) -> Result<void> {
    const auto panel = static_cast<std::size_t>(item);
    BufferPool::Loan row(layer_work.work.buffers(), MatrixWork::tile_floats(inputs.embedding));
    float* x = made.row(panel, 0);
    for (std::size_t i = 0; i < all * panel_tokens; ++i) x[i] *= scale;
    normalise_heads(inputs.norm, settings, network.layers.size(), size, x);
    const std::size_t first =
        panel / batch.panels_of_chunk() * batch.chunk_tokens + batch.position_of(panel);
    for (std::size_t lane = 0; lane < batch.tokens_of(panel); ++lane) {
      const auto id = static_cast<std::size_t>(ids[first + lane]);
      INGOT_TRY_VOID(layer_work.work.decode_tile(inputs.embedding, id, 1, row.data()));
      for (std::size_t f = 0; f < all; ++f) {
        float& to = x[f * panel_tokens + lane];
        to = (to + row.data()[f] * token_scale) * share;
      }
    }
    return {};
  };
  INGOT_TRY_VOID(layer_work.work.team().spread(batch.panel_count(), 1, add));
  copy_features(made, 0, all, states, network.inputs_at());
  return {};
}

Result<void> apply_layer_input(const LayerWork& layer_work, const Network& network,
                               const LayerInput& layer, std::size_t index, const Panels& inputs,
                               const Panels& states, Panels& outputs) {
  const std::size_t size = network.layer_inputs.size;
  INGOT_TRY(Panels gates, layer_work.project(layer.gate, inputs));
  INGOT_TRY_VOID(layer_work.for_each_panel([&](std::size_t panel) {
    const float* own = states.row(panel, network.inputs_at() + index * size);
    apply_gate(Activation::gelu, gates.numbers(panel), {own, size * panel_tokens});
  }));
  layer_work.work.observe(layer.out, 0, gates, layer_work.tokens);
  INGOT_TRY_VOID(layer_work.work.multiply(layer.out, gates, outputs));
  return layer_work.normalise(layer.norm, outputs, outputs);
}

Result<void> split_streams(const LayerWork& layer_work, const Network& network, Panels& states) {
  if (network.stream_count == 1) return {};
  const std::size_t width = network.settings.width;
  const Panels first = features_of(states, 0, width);
  for (std::size_t i = 0; i + 1 < network.stream_count; ++i) {
    Panels stream(width, states.panel_count());
    INGOT_TRY_VOID(layer_work.work.multiply(network.split.of_expert(i), first, stream));
    adjust_lengths(first, stream);
    copy_features(stream, 0, width, states, (i + 1) * width);
  }
  return {};
}

Result<void> merge_streams(const LayerWork& layer_work, const Network& network, Panels& states) {
  if (network.stream_count == 1) return {};
  const std::size_t width = network.settings.width;
  const Panels first = features_of(states, 0, width);
  Panels sum = first.copy();
  for (std::size_t i = 0; i + 1 < network.stream_count; ++i) {
    const Panels stream = features_of(states, (i + 1) * width, width);
    Panels merged(width, states.panel_count());
    INGOT_TRY_VOID(layer_work.work.multiply(network.merge.of_expert(i), stream, merged));
    adjust_lengths(first, merged);
    for (std::size_t n = 0; n < sum.size(); ++n) sum.data()[n] += merged.data()[n];
  }
  const float share = 1.0F / static_cast<float>(network.stream_count);
  for (std::size_t n = 0; n < sum.size(); ++n) sum.data()[n] *= share;
  copy_features(sum, 0, width, states, 0);
  return {};
}

Result<void> predict_streams(const LayerWork& layer_work, const StreamMix& mix,
                             const Panels& states, Panels& predictions) {
  const std::size_t width = layer_work.settings.width;
  const std::size_t count = mix.router.row_count;
  INGOT_TRY(const Panels shares, route(layer_work, mix, states));
  INGOT_TRY(const Panels factors, layer_work.project(mix.prediction, shares));
  return layer_work.for_each_panel([&](std::size_t panel) {
    for (std::size_t to = 0; to < count; ++to) {
      std::copy_n(states.row(panel, to * width), width * panel_tokens,
                  predictions.row(panel, to * width));
      for (std::size_t from = 0; from < count; ++from) {
        const float* factor = factors.row(panel, to * count + from);
        const float* x = states.row(panel, from * width);
        float* y = predictions.row(panel, to * width);
        for (std::size_t f = 0; f < width; ++f) {
          for (std::size_t t = 0; t < panel_tokens; ++t) {
            y[f * panel_tokens + t] += factor[t] * x[f * panel_tokens + t];
          }
        }
      }
    }
  });
}

Result<void> correct_streams(const LayerWork& layer_work, const StreamMix& mix, const Panels& made,
                             Panels& predictions) {
  const std::size_t width = layer_work.settings.width;
  INGOT_TRY(const Panels shares, route(layer_work, mix, made));
  INGOT_TRY(const Panels factors, layer_work.project(mix.correction, shares));
  const Panels first = features_of(predictions, 0, width);
  return layer_work.for_each_panel([&](std::size_t panel) {
    for (std::size_t to = 0; to < mix.router.row_count; ++to) {
      const float* factor = factors.row(panel, to);
      const float* x = made.row(panel, 0);
      const float* expected = first.row(panel, 0);
      float* y = predictions.row(panel, to * width);
      for (std::size_t f = 0; f < width; ++f) {
        for (std::size_t t = 0; t < panel_tokens; ++t) {
          const std::size_t i = f * panel_tokens + t;
          y[i] += (x[i] - expected[i]) * (factor[t] + 1.0F);
        }
      }
    }
  });
}

}  // namespace ingot::evaluation
