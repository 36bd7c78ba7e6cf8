// SPDX-License-Identifier: MIT
#include "evaluation/attention.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/checked.hpp"
#include "evaluation/kernels/exponentials.hpp"
#include "evaluation/kernels/product.hpp"
#include "ingot/half.hpp"

namespace ingot::evaluation {
namespace {

using Lanes = std::array<float, panel_tokens>;

/// Keys whose scores are made, weighed and used before the next ones, so that they stay in the
/// first cache.
constexpr std::size_t keys_at_a_time = 256;

/// The work on one head of one chunk. Its keys become rows of a matrix, so that scores are a
/// product. Its values become rows of another matrix, which is multiplied by the weights of the
/// tokens.
class HeadWork {
 public:
  HeadWork(const Settings& settings, const Attention& shape, const Batch& batch, std::size_t window,
           BufferPool& buffers)
      : settings_(settings),
        shape_(shape),
        window_(window),
        chunk_(settings.parts.attention.chunk > 0 ? window : 0),
        is_causal_(settings.is_causal),
        reach_(settings.is_causal || window == 0 ? batch.chunk_tokens : window / 2),
        tokens_(batch.chunk_tokens),
        padded_tokens_(batch.panels_of_chunk() * panel_tokens),
        key_rows_(buffers, (padded_tokens_ + group_rows) * shape.key_size),
        value_rows_(buffers, rounded_up(shape.value_size, group_rows) * padded_tokens_),
        scores_(buffers, keys_at_a_time * panel_tokens) {}

  /// @param first_panel  of the chunk.
  /// @param head         of the keys and values.
  void take_keys_and_values(const Panels& keys, const Panels& values, std::size_t first_panel,
                            std::size_t head) {
    const std::size_t key_size = shape_.key_size;
    for (std::size_t at = 0; at < padded_tokens_; at += panel_tokens) {
      const std::size_t panel = first_panel + at / panel_tokens;
      for (std::size_t i = 0; i < key_size; ++i) {
        const float* x = keys.row(panel, head * key_size + i);
        for (std::size_t t = 0; t < panel_tokens; ++t) {
          key_rows_.data()[(at + t) * key_size + i] = cached(x[t]);
        }
      }
      for (std::size_t i = 0; i < shape_.value_size; ++i) {
        const float* x = values.row(panel, head * shape_.value_size + i);
        float* row = value_rows_.data() + i * padded_tokens_ + at;
        for (std::size_t t = 0; t < panel_tokens; ++t) row[t] = cached(x[t]);
      }
    }
  }

  /// What the scores of a head have besides queries and keys.
  void set_head(std::size_t head, std::span<const float> slopes) {
    slope_ = slopes.empty() ? 0.0F : slopes[head];
    has_sink_ = !shape_.sinks.empty();
    if (has_sink_) sink_ = shape_.sinks[head];
  }

  /// The mixture for the queries of a panel, which begins at `position` of the chunk. Keys come
  /// block by block, so that their scores stay in the caches of a core however long the chunk is.
  void mix(std::size_t position, const float* queries, float* mixed) {
    const std::size_t end = std::min(position + panel_tokens + (is_causal_ ? 0 : reach_), tokens_);
    const std::size_t begin = std::min(first_seen(position), end - 1);
    const std::size_t key_size = shape_.key_size;
    PanelSoftmax softmax;
    softmax.largest.fill(has_sink_ ? sink_ : std::numeric_limits<float>::lowest());
    softmax.sums.fill(has_sink_ ? 1.0F : 0.0F);
    alignas(64) Lanes factors;
    for (std::size_t key = begin; key < end; key += keys_at_a_time) {
      const std::size_t count = std::min(keys_at_a_time, end - key);
      multiply_panel({key_rows_.data() + key * key_size, key_size, count}, key_size, queries,
                     scores_.data(), false);
      finish_scores(position, key, count);
      weigh_scores(scores_.data(), count, softmax, factors.data());
      if (key > begin) scale_tokens(mixed, shape_.value_size, factors.data());
      multiply_panel({value_rows_.data() + key, padded_tokens_, shape_.value_size}, count,
                     scores_.data(), mixed, key > begin);
    }
    for (std::size_t t = 0; t < panel_tokens; ++t) {
      // Tokens that fill up the last panel may see no key.
      factors[t] = position + t < tokens_ ? 1.0F / softmax.sums[t] : 0.0F;
    }
    scale_tokens(mixed, shape_.value_size, factors.data());
  }

 private:
  /// A key or value as it comes back from the cache of an engine.
  [[nodiscard]] float cached(float x) const noexcept {
    return settings_.rounds_cache && is_causal_ ? f32_from_f16(f16_from_f32(x)) : x;
  }

  /// The first token that one at `position` sees.
  [[nodiscard]] std::size_t first_seen(std::size_t position) const noexcept {
    if (!is_causal_) return position > reach_ ? position - reach_ : 0;
    return window_ > 0 && position + 1 > window_ ? position + 1 - window_ : 0;
  }

  [[nodiscard]] bool sees(std::size_t query, std::size_t key) const noexcept {
    if (!is_causal_) return (query > key ? query - key : key - query) <= reach_;
    if (chunk_ > 0) return key <= query && key / chunk_ == query / chunk_;
    return key <= query && (window_ == 0 || query - key < window_);
  }

  /// Scales the scores of the keys from `first` on, and hides those that a query does not see.
  void finish_scores(std::size_t position, std::size_t first, std::size_t count) noexcept {
    const std::size_t last = position + panel_tokens - 1;
    for (std::size_t key = first; key < first + count; ++key) {
      float* row = scores_.data() + (key - first) * panel_tokens;
      for (std::size_t t = 0; t < panel_tokens; ++t) row[t] *= shape_.scale;
      apply_cap(settings_.attention_cap, std::span(row, panel_tokens));
      if (slope_ != 0.0F) {
        for (std::size_t t = 0; t < panel_tokens; ++t) {
          row[t] -= slope_ * std::abs(static_cast<float>(position + t) - static_cast<float>(key));
        }
      }
      // What the first and the last query see, those between them see, too.
      if (sees(position, key) && sees(last, key)) continue;
      for (std::size_t t = 0; t < panel_tokens; ++t) {
        if (!sees(position + t, key)) row[t] = -std::numeric_limits<float>::infinity();
      }
    }
  }

  const Settings& settings_;
  const Attention& shape_;
  std::size_t window_;
  std::size_t chunk_;
  bool is_causal_;
  std::size_t reach_;  ///< The distance to the furthest token that one sees in both directions.
  float slope_ = 0.0F;
  float sink_ = 0.0F;
  bool has_sink_ = false;
  std::size_t tokens_;
  std::size_t padded_tokens_;
  BufferPool::Loan key_rows_;
  BufferPool::Loan value_rows_;
  BufferPool::Loan scores_;
};

/// Queries, keys and values of a layer; of all heads each.
struct Heads {
  Panels queries;
  Panels keys;
  Panels values;
  Panels gates;  ///< Of the mixed values, or none.
};

/// Mixes the values of each head by the softmax of its scores.
Result<void> attend(const LayerWork& layer_work, const Attention& attention, std::size_t window,
                    const Heads& made, Panels& mixed) {
  const Batch& batch = layer_work.batch;
  const std::size_t heads = attention.head_count;
  const std::size_t queries_of_key = heads / attention.kv_head_count;
  const std::vector<float> slopes = bias_slopes(heads, layer_work.settings.largest_bias);
  const auto attend_head = [&](std::uint64_t item, std::uint64_t) -> Result<void> {
    const std::size_t head = to_size(item) % heads;
    const std::size_t first_panel = to_size(item) / heads * batch.panels_of_chunk();
    HeadWork work(layer_work.settings, attention, batch, window, layer_work.work.buffers());
    work.take_keys_and_values(made.keys, made.values, first_panel, head / queries_of_key);
    work.set_head(head, slopes);
    for (std::size_t i = 0; i < batch.panels_of_chunk(); ++i) {
      work.mix(i * panel_tokens, made.queries.row(first_panel + i, head * attention.key_size),
               mixed.row(first_panel + i, head * attention.value_size));
    }
    return {};
  };
  return layer_work.work.team().spread(batch.chunk_count * heads, 1, attend_head);
}

/// A matrix of its own for each head. Head i reads `columns` features from i * stride on.
Result<Panels> project_heads(const LayerWork& layer_work, const Matrix& matrix,
                             std::size_t head_count, std::size_t stride, const Panels& inputs) {
  Panels outputs(head_count * matrix.row_count, inputs.panel_count());
  for (std::size_t head = 0; head < head_count; ++head) {
    const Panels part = features_of(inputs, head * stride, matrix.columns);
    INGOT_TRY(const Panels made,
              layer_work.work.project(matrix.of_expert(head), part, layer_work.tokens, head));
    copy_features(made, 0, matrix.row_count, outputs, head * matrix.row_count);
  }
  return outputs;
}

Result<Panels> project_narrow(const LayerWork& layer_work, const Narrow& narrow,
                              const Panels& inputs) {
  INGOT_TRY(Panels vector, layer_work.project(narrow.down, inputs));
  INGOT_TRY_VOID(layer_work.normalise(narrow.norm, vector, vector));
  return layer_work.project(narrow.up, vector);
}

/// Heads whose keys and values come from a narrow vector, and whose rotated key all heads share.
/// A head has what does not rotate first.
Result<Heads> make_narrow_heads(const LayerWork& layer_work, const Attention& attention,
                                const Panels& inputs) {
  INGOT_TRY(Panels queries, attention.query.exists()
                                ? layer_work.project(attention.query, inputs)
                                : project_narrow(layer_work, attention.narrow_query, inputs));
  INGOT_TRY(const Panels both, layer_work.project(attention.narrow_values.down, inputs));
  const std::size_t rotated = layer_work.settings.rope.rotated;
  const std::size_t rank = both.features() - rotated;
  Panels vector = features_of(both, 0, rank);
  INGOT_TRY_VOID(layer_work.normalise(attention.narrow_values.norm, vector, vector));
  const std::size_t heads = attention.head_count;
  const std::size_t panels = inputs.panel_count();
  Heads made{Panels(heads * attention.key_size, panels),
             Panels(attention.kv_head_count * attention.key_size, panels),
             Panels(attention.kv_head_count * attention.value_size, panels),
             {}};
  const std::size_t plain = attention.rotated_from;
  if (attention.absorbed_key.exists()) {
    const std::size_t head_size = queries.features() / heads;
    INGOT_TRY(const Panels absorbed,
              project_heads(layer_work, attention.absorbed_key, heads, head_size, queries));
    for (std::size_t head = 0; head < heads; ++head) {
      copy_features(absorbed, head * rank, rank, made.queries, head * attention.key_size);
      copy_features(queries, (head + 1) * head_size - rotated, rotated, made.queries,
                    head * attention.key_size + plain);
    }
    copy_features(vector, 0, rank, made.keys, 0);
    copy_features(both, rank, rotated, made.keys, rank);
    made.values = std::move(vector);
    return made;
  }
  made.queries = std::move(queries);
  INGOT_TRY(const Panels wide, layer_work.project(attention.narrow_values.up, vector));
  for (std::size_t head = 0; head < heads; ++head) {
    const std::size_t from = head * (plain + attention.value_size);
    copy_features(wide, from, plain, made.keys, head * attention.key_size);
    copy_features(both, rank, rotated, made.keys, head * attention.key_size + plain);
    copy_features(wide, from + plain, attention.value_size, made.values,
                  head * attention.value_size);
  }
  return made;
}

/// Takes the gates from behind the queries.
void split_gates(const Attention& attention, Heads& made) {
  const Panels both = std::move(made.queries);
  const std::size_t size = attention.key_size;
  made.queries = Panels(attention.head_count * size, both.panel_count());
  made.gates = Panels(attention.head_count * size, both.panel_count());
  for (std::size_t head = 0; head < attention.head_count; ++head) {
    copy_features(both, 2 * head * size, size, made.queries, head * size);
    copy_features(both, (2 * head + 1) * size, size, made.gates, head * size);
  }
}

Result<Heads> make_heads(const LayerWork& layer_work, const Attention& attention,
                         const Panels& inputs) {
  if (attention.is_narrow()) return make_narrow_heads(layer_work, attention, inputs);
  Heads made;
  INGOT_TRY(made.queries, layer_work.project(attention.query, inputs));
  if (attention.has_kept) return made;
  INGOT_TRY(made.keys, layer_work.project(attention.key, inputs));
  if (attention.values_are_keys) {
    made.values = made.keys.copy();
  } else {
    INGOT_TRY(made.values, layer_work.project(attention.value, inputs));
  }
  if (layer_work.settings.parts.attention.has_gated_queries) split_gates(attention, made);
  const float bound = layer_work.settings.clamp;
  if (bound == 0.0F) return made;
  for (Panels* panels : {&made.queries, &made.keys, &made.values}) {
    for (std::size_t i = 0; i < panels->size(); ++i) {
      panels->data()[i] = std::clamp(panels->data()[i], -bound, bound);
    }
  }
  return made;
}

/// Norm and rotation of queries or keys.
void place_heads(const LayerWork& layer_work, const Attention& attention, const Norm& norm,
                 std::size_t head_count, const Rotation* rotation, Panels& heads) {
  const Settings& settings = layer_work.settings;
  const AttentionFacts& facts = settings.parts.attention;
  const std::size_t size = attention.key_size;
  const auto apply_norm = [&](const Norm& each, float* x) {
    normalise_heads(each, settings, head_count, size, x);
  };
  for (std::size_t panel = 0; panel < heads.panel_count(); ++panel) {
    float* x = heads.row(panel, 0);
    if (!facts.norms_after_rotation) apply_norm(norm, x);
    if (rotation != nullptr) {
      rotation->apply(head_count, size, attention.rotated_from, layer_work.batch.position_of(panel),
                      x);
      apply_norm({.is_applied = facts.has_plain_norms}, x);
    }
    if (facts.norms_after_rotation) apply_norm(norm, x);
  }
}

/// Norm and rotation of keys, and norm of values; or those of an earlier layer.
void place_keys(const LayerWork& layer_work, const Attention& attention, const Rotation* rotation,
                Panels& states, Heads& made) {
  const std::size_t key_features = attention.kv_head_count * attention.key_size;
  const std::size_t value_features = attention.kv_head_count * attention.value_size;
  const std::size_t at = attention.kept_at;
  if (attention.has_kept) {
    made.keys = features_of(states, at, key_features);
    made.values = features_of(states, at + key_features, value_features);
    return;
  }
  place_heads(layer_work, attention, attention.key_norm, attention.kv_head_count, rotation,
              made.keys);
  if (layer_work.settings.parts.attention.has_value_norms) {
    for (std::size_t panel = 0; panel < made.values.panel_count(); ++panel) {
      normalise_heads({.is_applied = true}, layer_work.settings, attention.kv_head_count,
                      attention.value_size, made.values.row(panel, 0));
    }
  }
  if (!attention.keeps) return;
  copy_features(made.keys, 0, key_features, states, at);
  copy_features(made.values, 0, value_features, states, at + key_features);
}

/// Makes the queries of late tokens longer, so that long texts do not blur.
void cool(const LayerWork& layer_work, Panels& queries) {
  const Settings& settings = layer_work.settings;
  for (std::size_t panel = 0; panel < queries.panel_count(); ++panel) {
    const std::size_t position = layer_work.batch.position_of(panel);
    for (std::size_t t = 0; t < panel_tokens; ++t) {
      const auto steps =
          static_cast<float>((position + t + settings.cooling_offset) / settings.cooling);
      const float factor = 1.0F + settings.cooling_rate * std::log(steps + 1.0F);
      for (std::size_t f = 0; f < queries.features(); ++f) queries.row(panel, f)[t] *= factor;
    }
  }
}

}  // namespace

Result<void> apply_attention(const LayerWork& layer_work, const Attention& attention,
                             std::size_t layer, const Rotation& rotation, const Panels& inputs,
                             Panels& states, Panels& outputs) {
  const Settings& settings = layer_work.settings;
  INGOT_TRY(Heads made, make_heads(layer_work, attention, inputs));
  const bool is_rotated = settings.is_rotated(layer);
  const Rotation* own = is_rotated ? &rotation : nullptr;
  place_heads(layer_work, attention, attention.query_norm, attention.head_count, own, made.queries);
  place_keys(layer_work, attention, own, states, made);
  if (settings.cooling > 0 && (!is_rotated || settings.parts.attention.cools_by_key)) {
    cool(layer_work, made.queries);
  }
  Panels mixed(attention.head_count * attention.value_size, inputs.panel_count());
  const std::size_t window = settings.windows[layer] ? settings.window : 0;
  INGOT_TRY_VOID(attend(layer_work, attention, window, made, mixed));
  if (attention.absorbed_value.exists()) {
    INGOT_TRY(mixed, project_heads(layer_work, attention.absorbed_value, attention.head_count,
                                   attention.value_size, mixed));
  }
  for (std::size_t i = 0; i < std::min(made.gates.size(), mixed.size()); ++i) {
    mixed.data()[i] *= sigmoid(made.gates.data()[i]);
  }
  INGOT_TRY_VOID(layer_work.normalise(attention.output_norm, mixed, mixed));
  layer_work.work.observe(attention.output, 0, mixed, layer_work.tokens);
  return layer_work.work.multiply(attention.output, mixed, outputs);
}

}  // namespace ingot::evaluation
