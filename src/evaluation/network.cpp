// SPDX-License-Identifier: MIT
#include "evaluation/network.hpp"

#include <algorithm>

#include "evaluation/tensor_finder.hpp"

namespace ingot::evaluation {
namespace {

constexpr std::size_t max_vocabulary = std::size_t{1} << 28;

Result<void> add_rope_factors(Finder& finder, Network& network) {
  INGOT_TRY(network.rope_factors, finder.numbers("rope_freqs.weight"));
  network.long_rope_factors = network.rope_factors;
  if (network.rope_factors.empty()) {
    INGOT_TRY(network.rope_factors, finder.numbers("rope_factors_short.weight"));
    INGOT_TRY(network.long_rope_factors, finder.numbers("rope_factors_long.weight"));
  }
  for (const auto* factors : {&network.rope_factors, &network.long_rope_factors}) {
    if (factors->empty() || factors->size() == network.settings.rope.rotated / 2) continue;
    return refuse("rope_freqs.weight", "it has not one factor for each pair that rotates");
  }
  return {};
}

/// What embedding models have: the kind of a token, and what makes another vector of that of a
/// text. Heads that classify change no vector.
Result<void> add_text_ends(Finder& finder, Network& network) {
  const std::size_t width = network.settings.width;
  INGOT_TRY(network.token_type, finder.numbers("token_types.weight"));
  if (!network.token_type.empty() && network.token_type.size() < width) {
    return refuse("token_types.weight", "it is not as wide as the model");
  }
  network.token_type.resize(network.token_type.empty() ? 0 : width);
  std::size_t features = width;
  for (const char* name : {"dense_2", "dense_3"}) {
    INGOT_TRY(const Matrix head, finder.matrix(name));
    if (!head.exists()) continue;
    if (head.columns != features) {
      return refuse(head.tensor->name, "it does not fit what is before it");
    }
    features = head.row_count;
    network.heads.push_back(head);
  }
  for (const char* name : {"cls", "cls.output", "cls.norm"}) {
    for (const char* part : {".weight", ".bias"}) {
      INGOT_TRY_VOID(finder.find(std::string(name) + part));
    }
  }
  return {};
}

/// Streams of states, and inputs of layers.
Result<void> add_streams(Finder& finder, Network& network) {
  const std::size_t width = network.settings.width;
  LayerInputs& inputs = network.layer_inputs;
  INGOT_TRY(inputs.embedding, finder.matrix("per_layer_token_embd"));
  INGOT_TRY(inputs.projection, finder.matrix("per_layer_model_proj"));
  INGOT_TRY(inputs.norm, finder.norm("per_layer_proj_norm"));
  if (inputs.embedding.exists() && inputs.projection.exists()) {
    inputs.size = inputs.norm.row_size;
    const std::size_t all = inputs.size * network.settings.layer_count;
    if (inputs.size == 0 || inputs.embedding.columns != all ||
        inputs.embedding.row_count != network.vocabulary_size() ||
        inputs.projection.row_count != all || inputs.projection.columns != width) {
      return refuse("per_layer_token_embd.weight", "it does not fit the inputs of the layers");
    }
  }
  INGOT_TRY(network.split, finder.matrix("altup_proj"));
  INGOT_TRY(network.merge, finder.matrix("altup_unembd_proj"));
  if (!network.split.exists() || !network.merge.exists()) return {};
  for (const Matrix* matrix : {&network.split, &network.merge}) {
    const auto& shape = matrix->tensor->shape;
    network.stream_count = shape.size() < 3 ? 2 : static_cast<std::size_t>(shape[2]) + 1;
    if (matrix->columns != width || matrix->row_count != width) {
      return refuse(matrix->tensor->name, "it is not as wide as the model");
    }
  }
  return {};
}

/// Where keys and values lie that layers share: of the last layer with a window that has its own,
/// and of the last one without.
Result<void> share_keys(Network& network) {
  const Settings& settings = network.settings;
  const std::size_t own = std::min(settings.own_cache_layers, network.layers.size());
  std::size_t at = network.kept_at();
  for (std::size_t i = own; i < network.layers.size(); ++i) {
    Attention& attention = network.layers[i].attention;
    const std::size_t back = settings.windows[i] ? 2 : 1;
    if (own < back) return refuse(settings.prefix + "block_count", "no layer has keys to share");
    Attention& giver = network.layers[own - back].attention;
    if (!giver.keeps) {
      giver.keeps = true;
      giver.kept_at = at;
      const std::size_t features = giver.kv_head_count * (giver.key_size + giver.value_size);
      at += features;
      network.kept_features += features;
    }
    if (giver.kv_head_count != attention.kv_head_count || giver.key_size != attention.key_size) {
      return refuse(settings.prefix + "attention.key_length",
                    "layers that share keys have heads of different sizes");
    }
    attention.kept_at = giver.kept_at;
    attention.value_size = giver.value_size;
  }
  return {};
}

Result<void> add_ends(Finder& finder, Network& network) {
  const Settings& settings = network.settings;
  finder.expect(std::nullopt);
  INGOT_TRY(network.embedding, finder.matrix("token_embd"));
  if (!network.embedding.exists()) return fail(Errc::tensor_not_found, "token_embd.weight");
  if (network.vocabulary_size() == 0 || network.vocabulary_size() > max_vocabulary) {
    return refuse("token_embd.weight", "it has " + std::to_string(network.vocabulary_size()) +
                                           " rows; from 1 to " + std::to_string(max_vocabulary) +
                                           " are supported");
  }
  INGOT_TRY(network.positions, finder.matrix("position_embd"));
  INGOT_TRY(network.output, finder.matrix("output"));
  if (!network.output.exists()) network.output = network.embedding;
  INGOT_TRY_VOID(add_text_ends(finder, network));
  INGOT_TRY_VOID(add_streams(finder, network));
  // Some models call the norm of the output by the name of another tensor.
  const NormFacts& norms = settings.parts.norms;
  const bool is_of_encoder = finder.is_expected("enc.output_norm");
  const bool has_name =
      finder.is_expected("output_norm") || is_of_encoder || norms.lack_weights || norms.are_behind;
  INGOT_TRY(Norm embedding_norm, finder.norm("token_embd_norm"));
  INGOT_TRY(network.output_norm,
            finder.usual_norm(is_of_encoder ? "enc.output_norm" : "output_norm"));
  (has_name ? network.embedding_norm : network.output_norm) = std::move(embedding_norm);
  for (const Matrix* matrix : {&network.embedding, &network.positions, &network.output}) {
    if (matrix->exists() && matrix->columns != settings.width) {
      return refuse(matrix->tensor->name, "it is not as wide as the model");
    }
  }
  if (network.output.row_count != network.vocabulary_size()) {
    return refuse(network.output.tensor->name, "it has not one row for each token");
  }
  for (const auto* numbers : {&network.output_norm.weight, &network.output_norm.bias,
                              &network.embedding_norm.weight, &network.embedding_norm.bias}) {
    if (!numbers->empty() && numbers->size() != settings.width) {
      return refuse("output_norm.weight", "it is not as wide as the model");
    }
  }
  return add_rope_factors(finder, network);
}

}  // namespace

Matrix Matrix::of_expert(std::size_t expert) const {
  Matrix made = *this;
  made.first_row += expert * (expert_rows != 0 ? expert_rows : row_count);
  if (!scales.empty()) made.scale *= scales[expert];
  made.bias.clear();
  if (!bias.empty()) {
    const auto first = bias.begin() + static_cast<std::ptrdiff_t>(expert * row_count);
    made.bias.assign(first, first + static_cast<std::ptrdiff_t>(row_count));
  }
  return made;
}

Matrix Matrix::part(std::size_t first, std::size_t count) const {
  Matrix made{.tensor = tensor,
              .first_row = first_row + first,
              .row_count = count,
              .columns = columns,
              .scale = scale,
              .expert_rows = row_count,
              .is_later_part = first > 0};
  if (!bias.empty()) {
    const auto begin = bias.begin() + static_cast<std::ptrdiff_t>(first);
    made.bias.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
  }
  return made;
}

std::vector<const Matrix*> Layer::matrices() const {
  const Attention& a = attention;
  std::vector<const Matrix*> all = {&a.query,
                                    &a.key,
                                    &a.value,
                                    &a.narrow_query.down,
                                    &a.narrow_query.up,
                                    &a.narrow_values.down,
                                    &a.narrow_values.up,
                                    &a.absorbed_key,
                                    &a.absorbed_value,
                                    &a.output,
                                    &convolution.in,
                                    &convolution.out,
                                    &state_space.in,
                                    &state_space.mix,
                                    &state_space.step,
                                    &state_space.out,
                                    &experts.latent_down,
                                    &experts.latent_up,
                                    &input.gate,
                                    &input.out,
                                    &streams.side_down,
                                    &streams.side_up,
                                    &delta_net.strength,
                                    &delta_net.rates,
                                    &delta_net.out,
                                    &time_mix.query,
                                    &time_mix.key,
                                    &time_mix.value,
                                    &time_mix.gate,
                                    &time_mix.out,
                                    &channel_mix.receptance,
                                    &channel_mix.key,
                                    &channel_mix.value};
  for (const auto* several : {&delta_net.in, &delta_net.gate, &delta_net.decay}) {
    for (const Matrix& matrix : *several) all.push_back(&matrix);
  }
  for (const LowRank* part : {&time_mix.shift, &time_mix.narrow_gate, &time_mix.decay,
                              &time_mix.rate, &time_mix.residual}) {
    all.insert(all.end(), {&part->down, &part->up});
  }
  for (const FeedForward* part : {&feed_forward, &experts.chosen, &experts.shared}) {
    all.insert(all.end(), {&part->gate, &part->up, &part->down});
  }
  std::erase_if(all, [](const Matrix* matrix) { return !matrix->exists(); });
  return all;
}

std::uint64_t Layer::scratch_features() const {
  const Attention& a = attention;
  const StateSpace& s = state_space;
  std::uint64_t features = experts.count + a.key_size * (a.head_count + a.kv_head_count) +
                           a.value_size * (a.head_count + a.kv_head_count) +
                           2 * (s.out.columns + s.convolution.features()) +
                           2 * s.group_count * s.state_size + s.head_count + s.step.columns +
                           2 * delta_net.convolution.features() + 2 * delta_net.out.columns +
                           2 * delta_net.head_count + 16 * time_mix.out.row_count +
                           5 * channel_mix.value.row_count;
  for (const Matrix* matrix : matrices()) {
    const bool is_of_head = matrix == &a.absorbed_key || matrix == &a.absorbed_value;
    features += (is_of_head ? a.head_count : 1) * matrix->row_count;
  }
  return features;
}

std::uint64_t Layer::state_floats() const noexcept {
  const std::uint64_t size = std::max(delta_net.head_size, time_mix.head_size);
  const std::uint64_t delta = (size + 3) * (size + 5);
  return std::max<std::uint64_t>((state_space.state_size + 3) * (state_space.head_size + 5), delta);
}

std::size_t Network::state_features() const noexcept {
  const bool keeps_values =
      std::ranges::any_of(layers, [](const Layer& layer) { return layer.time_mix.corrects(); });
  return kept_at() + kept_features + (keeps_values ? settings.width : 0);
}

Result<void> check_predicts(const Network& network) {
  const Settings& settings = network.settings;
  if (!settings.is_encoder) return {};
  return refuse_kind(
      settings.prefix + std::string(settings.is_causal ? "pooling_type" : "attention.causal"),
      "the model makes vectors of texts and predicts no tokens");
}

Result<Network> make_network(const Model& model) {
  Network network;
  INGOT_TRY(network.settings, read_settings(model));
  Finder finder(model, network.settings);
  INGOT_TRY_VOID(add_ends(finder, network));
  for (std::size_t i = 0; i < network.settings.layer_count; ++i) {
    INGOT_TRY(Layer layer, make_layer(model, network.settings, finder, i));
    network.layers.push_back(std::move(layer));
  }
  INGOT_TRY_VOID(share_keys(network));
  INGOT_TRY_VOID(finder.require_all_used());
  return network;
}

}  // namespace ingot::evaluation
