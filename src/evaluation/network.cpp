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
  // Some models call the norm of the output by the name of another tensor.
  const bool has_name = finder.is_expected("output_norm") || settings.parts.norms.lack_weights;
  INGOT_TRY(Norm embedding_norm, finder.norm("token_embd_norm"));
  INGOT_TRY(network.output_norm, finder.usual_norm("output_norm"));
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
  return settings.width * (keeps_values ? 2 : 1);
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
  INGOT_TRY_VOID(finder.require_all_used());
  return network;
}

}  // namespace ingot::evaluation
