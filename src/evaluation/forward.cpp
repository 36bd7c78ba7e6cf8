// SPDX-License-Identifier: MIT
#include "evaluation/forward.hpp"

#include <algorithm>

#include "evaluation/attention.hpp"
#include "evaluation/experts.hpp"
#include "evaluation/token_math.hpp"
#include "ingot/parallel.hpp"

namespace ingot::evaluation {
namespace {

/// y += factor * x
void add_scaled(Panels& y, const Panels& x, float factor) noexcept {
  for (std::size_t i = 0; i < y.size(); ++i) y.data()[i] += factor * x.data()[i];
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
        work_(work),
        batch_(batch),
        rotation_(settings_.rope, settings_.rope.base, settings_.rope.scale,
                  factors_for(network, batch), batch),
        window_rotation_(settings_.rope, settings_.rope.window_base, settings_.rope.window_scale,
                         factors_for(network, batch), batch),
        normed_(settings_.width, batch.panel_count()),
        added_(settings_.width, batch.panel_count()) {
    for (std::size_t panel = 0; panel < batch.panel_count(); ++panel) {
      tokens_.push_back(static_cast<std::uint8_t>(batch.tokens_of(panel)));
    }
  }

  Result<void> run(const Layer& layer, std::size_t index, Panels& states) {
    INGOT_TRY_VOID(apply_norm(layer.attention_norm, states, normed_));
    INGOT_TRY_VOID(add_attention(layer, index));
    INGOT_TRY_VOID(apply_norm(layer.post_attention_norm, added_, added_));
    add_scaled(states, added_, settings_.residual_scale);
    // A feed-forward part without its own norm reads the norm of attention, or the layer's input.
    const bool is_parallel = !layer.feed_forward_norm.exists() && settings_.kind.has_pre_norms;
    if (!is_parallel) {
      INGOT_TRY_VOID(apply_norm(layer.feed_forward_norm, states, normed_));
    }
    INGOT_TRY_VOID(
        layer.router.exists()
            ? apply_experts(work_, settings_, layer, normed_, tokens_, added_)
            : feed_forward(work_, settings_, layer.feed_forward, 0, normed_, tokens_, added_));
    INGOT_TRY_VOID(apply_norm(layer.post_feed_forward_norm, added_, added_));
    add_scaled(states, added_, settings_.residual_scale);
    return {};
  }

 private:
  Result<void> apply_norm(const Norm& norm, const Panels& x, Panels& y) {
    return normalise_states(settings_, norm, x, y, work_.thread_count());
  }

  Result<void> add_attention(const Layer& layer, std::size_t index) {
    Panels queries(layer.query.row_count, batch_.panel_count());
    Panels keys(layer.key.row_count, batch_.panel_count());
    Panels values(layer.value.row_count, batch_.panel_count());
    work_.observe(layer.query, 0, normed_, tokens_);
    if (layer.key.tensor != layer.query.tensor) {
      work_.observe(layer.key, 0, normed_, tokens_);
      work_.observe(layer.value, 0, normed_, tokens_);
    }
    INGOT_TRY_VOID(work_.multiply(layer.query, normed_, queries));
    INGOT_TRY_VOID(work_.multiply(layer.key, normed_, keys));
    INGOT_TRY_VOID(work_.multiply(layer.value, normed_, values));
    prepare_heads(layer.query_norm, settings_.head_count, index, queries);
    prepare_heads(layer.key_norm, settings_.kv_head_count, index, keys);
    Panels mixed(settings_.head_count * settings_.value_size, batch_.panel_count());
    const std::size_t window = settings_.has_window(index) ? settings_.window : 0;
    INGOT_TRY_VOID(attend(settings_, batch_, window, queries, keys, values, mixed, work_.buffers(),
                          work_.thread_count()));
    work_.observe(layer.output, 0, mixed, tokens_);
    return work_.multiply(layer.output, mixed, added_);
  }

  /// Norm and rotation of queries or keys.
  void prepare_heads(const Norm& norm, std::size_t head_count, std::size_t index, Panels& heads) {
    const std::size_t size = settings_.key_size;
    const Rotation& rotation = settings_.has_window(index) ? window_rotation_ : rotation_;
    for (std::size_t panel = 0; panel < heads.panel_count(); ++panel) {
      if (norm.exists() && settings_.kind.head_norm == HeadNorm::whole) {
        float* all = heads.row(panel, 0);
        normalise(norm, settings_, heads.features(), all, all);
      } else if (norm.exists()) {
        const bool has_rows = norm.weight.size() > size;
        for (std::size_t head = 0; head < head_count; ++head) {
          float* elements = heads.row(panel, head * size);
          normalise(norm, settings_, size, elements, elements, has_rows ? head : 0);
        }
      }
      if (!settings_.is_rotated(index)) continue;
      rotation.apply(settings_, head_count, size, batch_.position_of(panel), heads.row(panel, 0));
    }
  }

  const Settings& settings_;
  MatrixWork& work_;
  const Batch& batch_;
  Rotation rotation_;
  Rotation window_rotation_;
  Panels normed_;
  Panels added_;
  std::vector<std::uint8_t> tokens_;
};

Result<void> ForwardPass::normalise_states(const Settings& settings, const Norm& norm,
                                           const Panels& x, Panels& y, unsigned thread_count) {
  return spread(x.panel_count(), 1, thread_count,
                [&](std::uint64_t panel, std::uint64_t) -> Result<void> {
                  const float* from = x.row(panel, 0);
                  float* to = y.row(panel, 0);
                  if (norm.exists()) {
                    normalise(norm, settings, x.features(), from, to);
                  } else if (from != to) {
                    std::copy_n(from, x.features() * panel_tokens, to);
                  }
                  return {};
                });
}

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
  const std::uint64_t inner =
      std::max({settings.feed_forward, settings.expert_feed_forward, settings.shared_feed_forward});
  const std::uint64_t attention =
      settings.query_size() + settings.kv_head_count * (settings.key_size + settings.value_size) +
      settings.head_count * settings.value_size;
  const std::uint64_t features =
      6 * settings.width + std::max(2 * inner, attention) + settings.expert_count;
  const std::uint64_t tokens = batch.panel_count() * panel_tokens;
  const std::uint64_t chunk_tokens = batch.panels_of_chunk() * panel_tokens;
  const std::uint64_t largest_row =
      std::max({settings.width, settings.query_size(), settings.head_count * settings.value_size,
                static_cast<std::size_t>(inner)});
  const std::uint64_t for_thread =
      std::max<std::uint64_t>(std::uint64_t{1} << 18, group_rows * (largest_row + 16)) +
      chunk_tokens * (settings.key_size + settings.value_size + 2 * panel_tokens);
  const std::uint64_t rotations = 2 * settings.rope.rotated * chunk_tokens;
  const std::uint64_t threads = threads_for(work_->thread_count(), ~std::uint64_t{0});
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
  Panels states(width, batch.panel_count());
  std::fill_n(states.data(), states.size(), 0.0F);
  const auto embed_panel = [&](std::uint64_t panel, std::uint64_t) -> Result<void> {
    BufferPool::Loan row(work_->buffers(), width);
    const std::size_t first =
        panel / batch.panels_of_chunk() * batch.chunk_tokens + batch.position_of(panel);
    for (std::size_t lane = 0; lane < batch.tokens_of(panel); ++lane) {
      INGOT_TRY_VOID(embed_token(ids[first + lane], row.data(), states.row(panel, 0) + lane));
    }
    return {};
  };
  INGOT_TRY_VOID(spread(batch.panel_count(), 1, work_->thread_count(), embed_panel));
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
  return normalise_states(network_->settings, network_->output_norm, states, states,
                          work_->thread_count());
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
