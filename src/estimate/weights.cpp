// SPDX-License-Identifier: MIT
#include "estimate/weights.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include "base/ranges.hpp"

namespace ingot::estimate {
namespace {

constexpr std::array<std::string_view, 3> layer_prefixes = {"blk.", "enc.blk.", "dec.blk."};

// The engine sorts them so: what begins with one of these is no part of a layer or of the output.
constexpr std::array<std::string_view, 7> input_prefixes = {
    "token_embd.",           "token_embd_norm.",      "token_types.",        "position_embd.",
    "per_layer_token_embd.", "per_layer_model_proj.", "per_layer_proj_norm."};
constexpr std::array<std::string_view, 3> copied_prefixes = {"rope_freqs.", "rope_factors_long.",
                                                             "rope_factors_short."};

template <std::size_t count>
bool begins_with_one(std::string_view name,
                     const std::array<std::string_view, count>& prefixes) noexcept {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

// Weights that the engine lays out anew for CPUs with wide vectors: as large as before, but not a
// page of the file any more.
constexpr std::array repacked_types = {TensorType::q4_0,   TensorType::q2_k, TensorType::q4_k,
                                       TensorType::q5_k,   TensorType::q6_k, TensorType::q8_0,
                                       TensorType::iq4_nl, TensorType::mxfp4};

bool is_repacked(const TensorInfo& tensor, TensorType type) noexcept {
  return tensor.shape.size() >= 2 && tensor.name.ends_with(".weight") &&
         std::find(repacked_types.begin(), repacked_types.end(), type) != repacked_types.end();
}

Result<std::uint64_t> bytes_as(const TensorInfo& tensor, TensorType type) {
  if (type == tensor.type) return tensor.size_bytes;
  const TensorTypeInfo* info = find_type(type);
  if (info == nullptr) {
    return fail(Errc::unsupported_type, std::string(tensor.name));
  }
  if (tensor.row_elements() % info->block_elements != 0) {
    return fail(Errc::row_not_whole_blocks, std::string(tensor.name),
                std::to_string(tensor.row_elements()) + " elements for " + std::string(info->name));
  }
  const auto bytes = checked_mul(tensor.element_count / info->block_elements, info->block_bytes);
  if (!bytes) return fail(Errc::size_overflow, std::string(tensor.name));
  return *bytes;
}

Failure too_large() { return fail(Errc::size_overflow, "the tensors' sum"); }

/// The bytes that a token reads of a tensor: all of it, or the experts that it uses.
std::uint64_t read_share(std::uint64_t bytes, bool is_expert, const Experts& experts) noexcept {
  if (!is_expert || experts.count == 0) return bytes;
  const std::uint64_t used = std::min(experts.used, experts.count);
  return bytes / experts.count * used + bytes % experts.count * used / experts.count;
}

/// Adds one tensor. The caller made sure that the sum of all tensors fits, and so does each part.
void add(Weights& weights, std::uint64_t bytes, bool is_expert, bool repacks,
         const Experts& experts) noexcept {
  const std::uint64_t read_bytes = read_share(bytes, is_expert, experts);
  weights.bytes += bytes;
  weights.read_bytes += read_bytes;
  if (repacks) weights.repacked_bytes += bytes;
  if (is_expert) {
    weights.expert_bytes += bytes;
    weights.expert_read_bytes += read_bytes;
  }
  weights.largest_bytes = std::max(weights.largest_bytes, bytes);
}

void note(LayerTensors& built, const TensorInfo& tensor, std::string_view in_layer) noexcept {
  const std::uint64_t columns = tensor.shape.empty() ? 0 : tensor.shape[0];
  const std::uint64_t rows = tensor.shape.size() > 1 ? tensor.shape[1] : 0;
  struct Flag {
    std::string_view name;
    bool LayerTensors::*member;
  };
  // Some architectures have norms without the suffix.
  static constexpr std::array flags = {
      Flag{"attn_norm", &LayerTensors::has_attention_norm},
      Flag{"attn_norm_2", &LayerTensors::has_second_attention_norm},
      Flag{"attn_output", &LayerTensors::has_attention_output},
      Flag{"attn_output_norm", &LayerTensors::has_attention_output_norm},
      Flag{"attn_q_norm", &LayerTensors::has_query_norm},
      Flag{"attn_qkv", &LayerTensors::has_fused_queries},
      Flag{"attn_rel_b", &LayerTensors::has_position_bias},
      Flag{"ffn_gate", &LayerTensors::has_gate},
      Flag{"ffn_gate_exps", &LayerTensors::has_expert_gate},
      Flag{"ffn_gate_inp_shexp", &LayerTensors::has_shared_expert_gate},
      Flag{"ffn_gate_shexp", &LayerTensors::has_shared_gate},
      Flag{"ffn_gate_up_exps", &LayerTensors::has_fused_expert_gate},
      Flag{"ffn_norm", &LayerTensors::has_feed_forward_norm},
      Flag{"post_attention_norm", &LayerTensors::has_post_attention_norm},
      Flag{"post_ffw_norm", &LayerTensors::has_post_feed_forward_norm},
      Flag{"ssm_alpha", &LayerTensors::has_separate_rates},
      Flag{"ssm_dt_norm", &LayerTensors::has_state_norms},
      Flag{"ssm_norm", &LayerTensors::has_state_output_norm},
  };
  struct Size {
    std::string_view name;
    std::uint64_t LayerTensors::*member;
  };
  static constexpr std::array row_counts = {
      Size{"attn_kv_a_mqa", &LayerTensors::compressed_rows},
      Size{"attn_q", &LayerTensors::query_rows},
      Size{"attn_q_a", &LayerTensors::query_rank},
      Size{"ffn_up", &LayerTensors::up_rows},
      Size{"ffn_up_exps", &LayerTensors::expert_rows},
      Size{"ffn_up_shexp", &LayerTensors::shared_up_rows},
      Size{"ssm_alpha", &LayerTensors::delta_rows},
      Size{"ssm_ba", &LayerTensors::delta_rows},
      Size{"ssm_in", &LayerTensors::state_rows},
      Size{"ssm_x", &LayerTensors::state_parameter_rows},
  };
  constexpr std::string_view suffix = ".weight";
  if (in_layer == "ssm_conv1d.bias") built.has_convolution_bias = true;
  if (in_layer == "exp_probs_b.bias") built.has_expert_bias = true;
  if (holds_experts(in_layer)) built.has_experts = true;
  if (in_layer.ends_with(suffix)) in_layer.remove_suffix(suffix.size());
  if (const Flag* flag = find_row(flags, &Flag::name, in_layer)) built.*flag->member = true;
  if (const Size* size = find_row(row_counts, &Size::name, in_layer)) built.*size->member = rows;
  if (in_layer == "attn_kv_a_norm") built.compressed_width = columns;
  if (in_layer == "ffn_gate_up_exps") built.expert_rows = rows / 2;
  if (in_layer == "ssm_dt" && rows > 0) built.time_step_width = columns;
}

/// What follows from all tensors of a layer together.
void complete(Layer& layer) noexcept {
  LayerTensors& built = layer.tensors;
  built.fuses_gate = !built.has_gate && layer.feed_forward > 0 && built.up_rows % 2 == 0 &&
                     built.up_rows / 2 == layer.feed_forward;
  built.norms_attention_output =
      built.has_post_attention_norm && (built.has_feed_forward_norm || !built.has_attention_norm);
  // Where this is the only norm after attention, the feed-forward part reads it.
  built.has_feed_forward_norm =
      built.has_feed_forward_norm || (built.has_attention_norm && built.has_post_attention_norm);
}

/// The floats of a token in the feed-forward part of a layer.
void count_floats(const Layer& layer, std::uint64_t embedding, GraphFloats& graph) {
  const LayerTensors& built = layer.tensors;
  if (built.up_rows == 0) return;
  const CheckedNumber width = layer.feed_forward;
  const CheckedNumber residual = CheckedNumber(3) * embedding;
  const std::uint64_t copies = built.fuses_gate ? 3 : built.has_gate ? 2 : 1;
  graph.has_feed_forward = true;
  graph.is_gate_fused = graph.is_gate_fused || built.fuses_gate;
  graph.feed_forward = max(graph.feed_forward, CheckedNumber(copies) * width + residual);
  // On a device the copy for the next matrix comes on top, and one row of width fewer is kept.
  const std::uint64_t device_copies = std::max<std::uint64_t>(copies, built.has_gate ? 3 : 2);
  graph.feed_forward_device = max(graph.feed_forward_device, CheckedNumber(device_copies) * width +
                                                                 CheckedNumber(2) * embedding);
}

}  // namespace

TensorPlace place_of(std::string_view name) noexcept {
  for (const std::string_view prefix : layer_prefixes) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view rest = name.substr(prefix.size());
    std::uint64_t layer = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), layer);
    const auto digits = static_cast<std::size_t>(end - rest.data());
    if (error == std::errc() && digits < rest.size() && rest[digits] == '.') {
      return {Part::layer, layer, rest.substr(digits + 1)};
    }
  }
  if (begins_with_one(name, input_prefixes)) return {Part::input, 0, {}};
  if (begins_with_one(name, copied_prefixes)) return {Part::everywhere, 0, {}};
  return {Part::output, 0, {}};
}

bool holds_experts(std::string_view in_layer) noexcept {
  if (in_layer.find("_exps.") != std::string_view::npos) return true;
  // Older files have one tensor for each expert: "ffn_up.3.weight".
  for (const std::string_view prefix : {"ffn_up.", "ffn_gate.", "ffn_down."}) {
    if (in_layer.starts_with(prefix) && in_layer.size() > prefix.size()) {
      const char next = in_layer[prefix.size()];
      if (next >= '0' && next <= '9') return true;
    }
  }
  return false;
}

Result<std::uint64_t> sum_tensors(const Model& model) {
  CheckedNumber sum;
  for (const TensorInfo& tensor : model.tensors()) sum += tensor.size_bytes;
  if (!sum.value()) return too_large();
  return *sum.value();
}

Result<void> add_weights(const Model& model, std::span<const TensorType> types,
                         const Experts& experts, detail::ProfileState& state) {
  CheckedNumber sum = state.weights_bytes;
  bool has_output_matrix = false;
  std::uint64_t embedding_bytes = 0;
  for (std::size_t i = 0; i < model.tensors().size(); ++i) {
    const TensorInfo& tensor = model.tensors()[i];
    const TensorType type = types.empty() ? tensor.type : types[i];
    INGOT_TRY(const std::uint64_t bytes, bytes_as(tensor, type));
    const TensorPlace place = place_of(tensor.name);
    if (place.part == Part::layer && place.layer >= state.layers.size()) continue;
    sum += bytes;
    if (!sum.value()) return too_large();
    const bool repacks = is_repacked(tensor, type);
    switch (place.part) {
      case Part::layer: {
        const auto layer = static_cast<std::size_t>(place.layer);
        const bool is_expert = holds_experts(place.in_layer);
        add(state.layers[layer].weights, bytes, is_expert, repacks, experts);
        note(state.layers[layer].tensors, tensor, place.in_layer);
        break;
      }
      case Part::input:
        add(state.input, bytes, false, false, experts);
        break;
      case Part::everywhere:
        add(state.everywhere, bytes, false, false, experts);
        break;
      case Part::output:
        add(state.output, bytes, false, repacks, experts);
        break;
    }
    has_output_matrix = has_output_matrix || tensor.name == "output.weight";
    state.has_position_table = state.has_position_table || tensor.name == "position_embd.weight";
    state.has_embedding_norm = state.has_embedding_norm || tensor.name == "token_embd_norm.weight";
    state.has_output_norm = state.has_output_norm || tensor.name == "output_norm.weight";
    if (tensor.name == "token_embd.weight") embedding_bytes = bytes;
  }
  state.weights_bytes = *sum.value();
  if (!has_output_matrix && !state.encodes()) state.tied_bytes = embedding_bytes;
  for (std::size_t i = 0; i < state.layers.size(); ++i) {
    Layer& layer = state.layers[i];
    complete(layer);
    count_floats(layer, state.embedding, state.graph);
    state.graph.has_experts = state.graph.has_experts || layer.tensors.has_experts;
    state.graph.has_position_bias |= layer.tensors.has_position_bias;
  }
  return {};
}

Result<void> add_adapter(const Model& adapter, detail::ProfileState& state) {
  INGOT_TRY(const std::uint64_t adapter_bytes, sum_tensors(adapter));
  const auto sum = checked_add(adapter_bytes, state.weights_bytes);
  if (!sum) return too_large();
  state.weights_bytes = *sum;
  for (const TensorInfo& tensor : adapter.tensors()) {
    const TensorPlace place = place_of(tensor.name);
    Weights* weights = &state.output;
    if (place.part == Part::input) weights = &state.input;
    if (place.part == Part::layer && place.layer < state.layers.size()) {
      weights = &state.layers[static_cast<std::size_t>(place.layer)].weights;
    }
    // An adapter is read as a whole, and is not laid out anew.
    add(*weights, tensor.size_bytes, false, false, {});
  }
  return {};
}

}  // namespace ingot::estimate
