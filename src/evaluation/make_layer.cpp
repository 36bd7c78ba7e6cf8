// SPDX-License-Identifier: MIT
#include <cmath>

#include "evaluation/part_maker.hpp"

namespace ingot::evaluation {
namespace {

/// Makes the layers of one model.
class LayerMaker : public PartMaker {
 public:
  using PartMaker::PartMaker;

  Result<Layer> make() {
    finder_.expect(index_);
    Layer layer;
    INGOT_TRY_VOID(add_norms(layer));
    INGOT_TRY_VOID(add_mixers(layer));
    INGOT_TRY_VOID(add_feed_forward("", settings_.width, layer.feed_forward));
    INGOT_TRY(layer.feed_forward.inner_norm, finder_.norm("ffn_sub_norm"));
    INGOT_TRY_VOID(add_experts(layer.experts));
    INGOT_TRY_VOID(add_streams(layer));
    return layer;
  }

 private:
  Result<void> add_mixers(Layer& layer) {
    if (finder_.is_expected("shortconv.in_proj")) {
      INGOT_TRY(layer.convolution, short_convolution());
    }
    if (finder_.is_expected("time_mix_output")) {
      INGOT_TRY(layer.time_mix, time_mix());
    }
    if (finder_.is_expected("channel_mix_key")) {
      INGOT_TRY(layer.channel_mix, channel_mix());
    }
    if (finder_.is_expected("ssm_beta") || finder_.is_expected("ssm_ba")) {
      INGOT_TRY(layer.delta_net, delta_net());
      return {};
    }
    if (finder_.is_expected("ssm_out")) {
      INGOT_TRY(layer.state_space, state_space());
    }
    if (finder_.is_expected("attn_output")) INGOT_TRY_VOID(add_attention(layer.attention));
    return {};
  }

  /// Norms of the sums that a layer makes.
  Result<void> add_norms_behind(Layer& layer) {
    const auto add = [&](const char* name, Norm& norm) -> Result<void> {
      INGOT_TRY(norm, finder_.norm(name));
      return check(name, norm, settings_.width);
    };
    INGOT_TRY_VOID(add("attn_output_norm", layer.sum_norm));
    INGOT_TRY_VOID(add("attn_norm_2", layer.second_sum_norm));
    return add("layer_output_norm", layer.end_norm);
  }

  Result<void> add_norms(Layer& layer) {
    if (settings_.parts.norms.are_behind) return add_norms_behind(layer);
    const std::string before(settings_.parts.norms.feed_forward_name);
    INGOT_TRY(layer.attention_norm, finder_.usual_norm("attn_norm"));
    INGOT_TRY(layer.own_attention_norm, finder_.norm("attn_norm_2"));
    INGOT_TRY(layer.feed_forward_norm, finder_.usual_norm(before));
    if (before != "post_attention_norm") {
      INGOT_TRY(layer.post_attention_norm, finder_.norm("post_attention_norm"));
    }
    INGOT_TRY(layer.post_feed_forward_norm, finder_.norm("post_ffw_norm"));
    for (const auto& [name, norm] : std::initializer_list<std::pair<std::string, const Norm*>>{
             {"attn_norm", &layer.attention_norm},
             {"attn_norm_2", &layer.own_attention_norm},
             {before, &layer.feed_forward_norm},
             {"post_attention_norm", &layer.post_attention_norm},
             {"post_ffw_norm", &layer.post_feed_forward_norm}}) {
      INGOT_TRY_VOID(check(name, *norm, settings_.width));
    }
    return {};
  }

  Result<void> add_attention(Attention& made) {
    INGOT_TRY(made.head_count,
              read_layer_size(model_, settings_, "attention.head_count", index_, 0));
    INGOT_TRY(made.kv_head_count, read_layer_size(model_, settings_, "attention.head_count_kv",
                                                  index_, made.head_count));
    if (made.head_count == 0 || made.kv_head_count == 0 ||
        made.head_count % made.kv_head_count != 0) {
      return refuse(settings_.prefix + "attention.head_count",
                    std::to_string(made.head_count) + " heads cannot share " +
                        std::to_string(made.kv_head_count) + " heads of keys");
    }
    INGOT_TRY(made.narrow_values.down, finder_.matrix("attn_kv_a_mqa"));
    INGOT_TRY_VOID(made.is_narrow() ? add_narrow(made) : add_projections(made));
    INGOT_TRY(made.output, finder_.matrix("attn_output"));
    INGOT_TRY_VOID(
        check("attn_output", made.output, made.head_count * output_size(made), settings_.width));
    INGOT_TRY(made.output_norm, finder_.norm("attn_sub_norm"));
    INGOT_TRY_VOID(check("attn_sub_norm", made.output_norm, made.output.columns));
    INGOT_TRY(made.sinks, finder_.numbers("attn_sinks.weight"));
    if (!made.sinks.empty() && made.sinks.size() != made.head_count) {
      return contradicts("attn_sinks", "it has not one number for each head");
    }
    const std::size_t rotated = settings_.rotated_of(index_);
    if (made.rotated_from + rotated > made.key_size) {
      return refuse(settings_.prefix + "rope.dimension_count",
                    std::to_string(rotated) + " elements rotate, and a head has " +
                        std::to_string(made.key_size));
    }
    return {};
  }

  /// Queries, and the gates that come with them.
  [[nodiscard]] std::size_t parts_of_query() const {
    return settings_.parts.attention.has_gated_queries ? 2 : 1;
  }

  /// Elements of a head in the input of the output matrix.
  static std::size_t output_size(const Attention& made) {
    return made.absorbed_value.exists() ? made.absorbed_value.row_count : made.value_size;
  }

  void set_scale(Attention& made, std::size_t head_size) const {
    const float own = settings_.attention_scale;
    made.scale = (own != 0.0F ? own : 1.0F / std::sqrt(static_cast<float>(head_size))) *
                 settings_.attention_factor;
  }

  Result<void> add_projections(Attention& made) {
    const std::size_t width = settings_.width;
    INGOT_TRY(const Matrix fused, finder_.matrix("attn_qkv"));
    if (fused.exists()) {
      const std::size_t size = settings_.key_size_of(index_);
      const std::size_t query = made.head_count * size * parts_of_query();
      const std::size_t key = made.kv_head_count * size;
      if (fused.columns != width || fused.row_count <= query + key) {
        return contradicts("attn_qkv", "it is too small for its heads");
      }
      made.query = fused.part(0, query);
      made.key = fused.part(query, key);
      made.value = fused.part(query + key, fused.row_count - query - key);
    } else {
      INGOT_TRY(made.query, finder_.matrix("attn_q"));
      INGOT_TRY(made.key, finder_.matrix("attn_k"));
      INGOT_TRY(made.value, finder_.matrix("attn_v"));
    }
    made.key_size = made.query.row_count / made.head_count / parts_of_query();
    made.has_kept = index_ >= settings_.own_cache_layers;
    made.values_are_keys = !made.has_kept && !made.value.exists();
    if (made.has_kept || made.values_are_keys) return add_shared(made);
    made.value_size = made.value.row_count / made.kv_head_count;
    if (made.key_size == 0 || made.value_size == 0) {
      return contradicts("attn_q", "it has fewer rows than heads");
    }
    INGOT_TRY_VOID(
        check("attn_q", made.query, width, made.head_count * made.key_size * parts_of_query()));
    INGOT_TRY_VOID(check("attn_k", made.key, width, made.kv_head_count * made.key_size));
    INGOT_TRY_VOID(check("attn_v", made.value, width, made.kv_head_count * made.value_size));
    set_scale(made, made.key_size);
    INGOT_TRY(made.query_norm, head_norm("attn_q_norm", made.key_size, made.head_count));
    INGOT_TRY(made.key_norm, head_norm("attn_k_norm", made.key_size, made.kv_head_count));
    return {};
  }

  /// Heads whose keys are those of another layer, or whose values are their keys. Matrices that
  /// such layers have all the same are not used.
  Result<void> add_shared(Attention& made) {
    made.value_size = made.key_size;
    INGOT_TRY_VOID(check("attn_q", made.query, settings_.width, made.head_count * made.key_size));
    if (made.values_are_keys) {
      INGOT_TRY_VOID(
          check("attn_k", made.key, settings_.width, made.kv_head_count * made.key_size));
    }
    set_scale(made, made.key_size);
    INGOT_TRY(made.query_norm, head_norm("attn_q_norm", made.key_size, made.head_count));
    INGOT_TRY(made.key_norm, head_norm("attn_k_norm", made.key_size, made.kv_head_count));
    if (made.has_kept) made.key = made.value = {};
    return {};
  }

  /// A norm of one head, of all heads together, or one for each head.
  Result<Norm> head_norm(const std::string& name, std::size_t size, std::size_t heads) {
    INGOT_TRY(Norm norm, finder_.norm(name));
    const std::size_t found = norm.weight.size();
    const bool fits = norm.row_size == size ? found == size || found == size * heads
                                            : norm.row_size == size * heads;
    if (norm.exists() && !fits) {
      return contradicts(name, "it fits neither a head nor all heads");
    }
    if (!norm.bias.empty() && norm.bias.size() != found) {
      return contradicts(name, "its bias has another size");
    }
    return norm;
  }

  Result<void> add_narrow(Attention& made) {
    const std::size_t width = settings_.width;
    const std::size_t rotated = settings_.rope.rotated;
    const std::size_t heads = made.head_count;
    Narrow& narrow = made.narrow_values;
    if (narrow.down.columns != width || narrow.down.row_count <= rotated) {
      return contradicts("attn_kv_a_mqa", "it has no room for a vector and a rotated key");
    }
    const std::size_t rank = narrow.down.row_count - rotated;
    INGOT_TRY(narrow.norm, finder_.norm("attn_kv_a_norm"));
    INGOT_TRY_VOID(check("attn_kv_a_norm", narrow.norm, rank));
    INGOT_TRY(made.narrow_query.down, finder_.matrix("attn_q_a"));
    std::size_t query_rows = 0;
    if (made.narrow_query.down.exists()) {
      Narrow& query = made.narrow_query;
      INGOT_TRY(query.norm, finder_.norm("attn_q_a_norm"));
      INGOT_TRY(query.up, finder_.matrix("attn_q_b"));
      query_rows = query.up.row_count;
      INGOT_TRY_VOID(check("attn_q_a", query.down, width, query.down.row_count));
      INGOT_TRY_VOID(check("attn_q_a_norm", query.norm, query.down.row_count));
      INGOT_TRY_VOID(check("attn_q_b", query.up, query.down.row_count, query_rows));
    } else {
      INGOT_TRY(made.query, finder_.matrix("attn_q"));
      query_rows = made.query.row_count;
      INGOT_TRY_VOID(check("attn_q", made.query, width, query_rows));
    }
    const std::size_t head_size = query_rows / heads;
    if (query_rows % heads != 0 || head_size <= rotated) {
      return contradicts("attn_q", "its heads have no room for what rotates");
    }
    const std::size_t plain = head_size - rotated;
    set_scale(made, head_size);
    INGOT_TRY(made.absorbed_key, finder_.matrix("attn_k_b"));
    if (made.absorbed_key.exists()) {
      INGOT_TRY(made.absorbed_value, finder_.matrix("attn_v_b"));
      INGOT_TRY_VOID(check("attn_k_b", made.absorbed_key, plain, rank));
      INGOT_TRY_VOID(check("attn_v_b", made.absorbed_value, rank, made.absorbed_value.row_count));
      made.kv_head_count = 1;
      made.key_size = rank + rotated;
      made.value_size = rank;
      made.rotated_from = rank;
      return {};
    }
    INGOT_TRY(narrow.up, finder_.matrix("attn_kv_b"));
    made.kv_head_count = heads;
    made.key_size = head_size;
    made.rotated_from = plain;
    if (narrow.up.row_count % heads != 0 || narrow.up.row_count / heads <= plain) {
      return contradicts("attn_kv_b", "it has no room for the values of its heads");
    }
    made.value_size = narrow.up.row_count / heads - plain;
    return check("attn_kv_b", narrow.up, rank, narrow.up.row_count);
  }

  /// The part without a suffix, or that of all experts, or of the shared one.
  Result<void> add_feed_forward(const std::string& suffix, std::size_t width, FeedForward& made) {
    INGOT_TRY(made.gate, finder_.matrix("ffn_gate" + suffix));
    INGOT_TRY(made.up, finder_.matrix("ffn_up" + suffix));
    INGOT_TRY(made.down, finder_.matrix("ffn_down" + suffix));
    if (settings_.parts.has_unbiased_ffn) {
      for (Matrix* matrix : {&made.gate, &made.up, &made.down}) matrix->bias.clear();
    }
    INGOT_TRY(const Matrix fused, finder_.matrix("ffn_gate_up" + suffix));
    if (!made.down.exists()) return {};
    const std::size_t inner = made.down.columns;
    const bool is_fused = !made.gate.exists() && made.up.row_count == 2 * inner;
    if (is_fused || fused.exists()) {
      const Matrix& both = is_fused ? made.up : fused;
      if (both.row_count != 2 * inner) return contradicts("ffn_gate_up" + suffix, "odd rows");
      const Matrix whole = both;
      made.gate = whole.part(0, inner);
      made.up = whole.part(inner, inner);
    }
    INGOT_TRY_VOID(check("ffn_up" + suffix, made.up, width, inner));
    if (made.gate.exists()) INGOT_TRY_VOID(check("ffn_gate" + suffix, made.gate, width, inner));
    return check("ffn_down" + suffix, made.down, inner, width);
  }

  Result<void> add_experts(Experts& made) {
    INGOT_TRY(made.router, finder_.matrix("ffn_gate_inp"));
    if (!made.router.exists()) return {};
    INGOT_TRY(made.latent_down, finder_.matrix("ffn_latent_down"));
    INGOT_TRY(made.latent_up, finder_.matrix("ffn_latent_up"));
    const std::size_t width = settings_.width;
    std::size_t latent = width;
    if (made.latent_down.exists() && made.latent_up.exists()) {
      latent = made.latent_down.row_count;
      INGOT_TRY_VOID(check("ffn_latent_down", made.latent_down, width, latent));
      INGOT_TRY_VOID(check("ffn_latent_up", made.latent_up, latent, width));
    }
    INGOT_TRY_VOID(add_feed_forward("_exps", latent, made.chosen));
    INGOT_TRY_VOID(add_feed_forward("_shexp", width, made.shared));
    INGOT_TRY(made.shared_router, finder_.numbers("ffn_gate_inp_shexp.weight"));
    INGOT_TRY(made.router_scale, finder_.numbers("ffn_gate_inp.scale"));
    if (made.router_scale.size() != width) made.router_scale.clear();
    INGOT_TRY(made.selection_bias, finder_.numbers("exp_probs_b.bias"));
    made.count = made.router.row_count;
    const auto& shape =
        made.chosen.down.exists() ? made.chosen.down.tensor->shape : made.router.tensor->shape;
    const bool has_all = shape.size() > 2 ? shape[2] == made.count : made.count == 1;
    const bool fits = made.selection_bias.empty() || made.selection_bias.size() == made.count;
    if (!has_all || !fits || settings_.experts.used == 0 || settings_.experts.used > made.count ||
        made.count % settings_.experts.groups != 0) {
      return contradicts("ffn_gate_inp", "the number of experts contradicts the others");
    }
    if (!made.shared_router.empty() && made.shared_router.size() != settings_.width) {
      return contradicts("ffn_gate_inp_shexp", "it is not as wide as the model");
    }
    return check("ffn_gate_inp", made.router, settings_.width, made.count);
  }
};

}  // namespace

Result<Layer> make_layer(const Model& model, const Settings& settings, Finder& finder,
                         std::size_t index) {
  return LayerMaker(model, settings, finder, index).make();
}

}  // namespace ingot::evaluation
