// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string>
#include <utility>

#include "estimate/header_reader.hpp"
#include "estimate/kept_state.hpp"
#include "estimate/profile_state.hpp"
#include "estimate/weights.hpp"
#include "ingot/estimate.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/summary.hpp"

namespace ingot {
namespace {

using namespace estimate;
using detail::ProfileState;

/// Fills a profile from a header, step by step; each step stands on the ones before.
class ProfileReader {
 public:
  ProfileReader(const Model& model, ProfileState& state, const Architecture* architecture)
      : model_(model), state_(state), keys_(model, state.architecture), row_(architecture) {}

  Result<void> read() {
    INGOT_TRY_VOID(read_sizes());
    INGOT_TRY_VOID(read_heads());
    INGOT_TRY_VOID(read_state_size(keys_, state_));
    INGOT_TRY_VOID(mark_recurrent_layers());
    INGOT_TRY_VOID(mark_sliding_layers());
    INGOT_TRY_VOID(mark_cached_layers());
    if (is_known()) INGOT_TRY_VOID(read_further_caches(*row_, model_, state_));
    INGOT_TRY_VOID(read_experts());
    count_attention_floats();
    return {};
  }

  [[nodiscard]] const Experts& experts() const noexcept { return experts_; }

  /// The floats of the phases that depend on how the layers are built.
  void count_expert_floats() {
    if (!state_.graph.has_experts) return;
    state_.graph.experts = CheckedNumber(3) * state_.expert_width * state_.experts_used +
                           CheckedNumber(4) * state_.embedding;
  }

 private:
  [[nodiscard]] std::size_t layer_count() const noexcept { return state_.layers.size(); }
  [[nodiscard]] bool is_known() const noexcept { return state_.rule != nullptr; }

  /// Layers by the names of tensors: an unknown architecture may call its keys otherwise.
  [[nodiscard]] std::uint64_t layers_of_tensors() const noexcept {
    std::uint64_t layers = 0;
    for (const TensorInfo& tensor : model_.tensors()) {
      const TensorPlace place = place_of(tensor.name);
      if (place.part != Part::layer) continue;
      layers = std::max(layers, std::min(place.layer, max_layers) + 1);
    }
    return layers;
  }

  Result<void> read_sizes() {
    INGOT_TRY(state_.embedding, keys_.number_or(suffixes::embedding_length, 0));
    INGOT_TRY(state_.context_length, keys_.number_or(suffixes::context_length, 0));
    INGOT_TRY(std::uint64_t all_layers, keys_.number_or(suffixes::block_count, 0));
    INGOT_TRY(const std::uint64_t further, keys_.number_or(suffixes::nextn_predict_layers, 0));
    all_layers = is_known() ? all_layers : std::max(all_layers, layers_of_tensors());
    if (all_layers > max_layers) {
      return keys_.refuse(suffixes::block_count, "found " + std::to_string(all_layers) +
                                                     ", at most " + std::to_string(max_layers) +
                                                     " are considered");
    }
    if (is_known() && (all_layers == 0 || state_.embedding == 0)) {
      return keys_.refuse(all_layers == 0 ? suffixes::block_count : suffixes::embedding_length,
                          "the key is missing or 0");
    }
    if (further > 0 && further >= all_layers) {
      return keys_.refuse(
          suffixes::nextn_predict_layers,
          "found " + std::to_string(further) + " of " + std::to_string(all_layers) + " layers");
    }
    if (further > 0) {
      state_.notes.push_back("the last " + std::to_string(further) +
                             (further == 1 ? " layer predicts" : " layers predict") +
                             " further tokens and is left out, as the engine does unless asked");
    }
    state_.layers.resize(static_cast<std::size_t>(all_layers - further));
    INGOT_TRY(const std::optional<std::uint64_t> vocabulary,
              keys_.find_number(suffixes::vocab_size));
    const Value* tokens = model_.find(keys::tokenizer_ggml_tokens);
    const std::uint64_t token_count = tokens != nullptr ? tokens->as_array().size() : 0;
    state_.uses_layer_norm =
        find_architecture_key(model_, suffixes::attention_layer_norm_epsilon) != nullptr &&
        find_architecture_key(model_, suffixes::attention_layer_norm_rms_epsilon) == nullptr;
    const Value* finetuned = find_architecture_key(model_, "rope.scaling.finetuned");
    state_.is_rope_finetuned = finetuned == nullptr || finetuned->get<bool>().value_or(true);
    state_.vocabulary = token_count > 0 ? token_count : vocabulary.value_or(0);
    // Tokens that a layout index jumped over are as many as their embeddings, as engines demand.
    const TensorInfo* embeddings = model_.find_tensor("token_embd.weight");
    if (token_count == 0 && !model_.is_verified() && embeddings != nullptr &&
        embeddings->shape.size() == 2) {
      state_.vocabulary = embeddings->shape[1];
    }
    return {};
  }

  Result<void> read_heads() {
    const std::uint64_t layers = layer_count();
    INGOT_TRY(const auto heads, keys_.find_per_layer(suffixes::attention_head_count, layers));
    INGOT_TRY(const auto kv_heads, keys_.find_per_layer(suffixes::attention_head_count_kv, layers));
    INGOT_TRY(const auto widths, keys_.find_per_layer(suffixes::feed_forward_length, layers));
    const std::uint64_t first_heads = heads && !heads->empty() ? heads->front() : 0;
    const std::uint64_t usual = first_heads > 0 ? state_.embedding / first_heads : 0;
    INGOT_TRY(const std::uint64_t key, keys_.number_or(suffixes::attention_key_length, usual));
    INGOT_TRY(const std::uint64_t value, keys_.number_or(suffixes::attention_value_length, usual));
    // Rows of recurrent layers do not say whether the others need heads; they do.
    const bool needs_heads = is_known() && state_.rule->recurrent != Recurrent::always &&
                             (row_->has_attention || state_.rule->recurrent != Recurrent::never);
    if (needs_heads && !heads) {
      return keys_.refuse(suffixes::attention_head_count, "the key is missing");
    }
    for (std::size_t i = 0; i < layer_count(); ++i) {
      Layer& layer = state_.layers[i];
      layer.heads = heads ? (*heads)[i] : 0;
      layer.kv_heads = kv_heads ? (*kv_heads)[i] : layer.heads;
      layer.feed_forward = widths ? (*widths)[i] : 0;
      layer.key_width = key;
      layer.value_width = value;
    }
    return read_latent();
  }

  /// MLA: one vector a token, from which the keys and the values of all heads are made.
  Result<void> read_latent() {
    INGOT_TRY(const auto key, keys_.find_number(suffixes::attention_key_length_mla));
    INGOT_TRY(const auto value, keys_.find_number(suffixes::attention_value_length_mla));
    if (!key || !value) return {};
    INGOT_TRY(const auto rank, keys_.find_number(suffixes::attention_kv_lora_rank));
    INGOT_TRY(const std::uint64_t rope, keys_.number_or(suffixes::rope_dimension_count, 0));
    if (!rank) return keys_.refuse(suffixes::attention_kv_lora_rank, "the key is missing");
    state_.is_latent = true;
    state_.head_key_width = *key;
    state_.head_value_width = *value;
    for (Layer& layer : state_.layers) {
      layer.key_width = *rank + rope;
      layer.value_width = *rank;
      layer.kv_heads = std::min<std::uint64_t>(layer.kv_heads, 1);
    }
    return {};
  }

  Result<void> mark_recurrent_layers() {
    const Recurrent rule = is_known() ? state_.rule->recurrent : Recurrent::never;
    std::uint64_t interval = 0;
    HeaderReader::Flags flags;
    if (rule == Recurrent::by_interval) {
      INGOT_TRY(interval, keys_.number_or("full_attention_interval", state_.rule->interval));
      INGOT_TRY(auto found, keys_.find_flags(suffixes::attention_recurrent_layers, layer_count()));
      if (found) flags = *std::move(found);
      if (flags.period) flags.layers.assign(layer_count(), *flags.period != 0);
      if (interval == 0) return keys_.refuse("full_attention_interval", "found 0");
    }
    for (std::size_t i = 0; i < layer_count(); ++i) {
      Layer& layer = state_.layers[i];
      switch (rule) {
        case Recurrent::never:
          break;
        case Recurrent::always:
        case Recurrent::beside_attention:
          layer.is_recurrent = true;
          break;
        case Recurrent::without_kv_heads:
          layer.is_recurrent = layer.kv_heads == 0;
          break;
        case Recurrent::without_kv_heads_and_ffn:
          layer.is_recurrent = layer.kv_heads == 0 && layer.feed_forward == 0;
          break;
        case Recurrent::by_interval:
          layer.is_recurrent = flags.layers.empty() ? (i + 1) % interval != 0 : flags.layers[i];
          break;
      }
    }
    return {};
  }

  Result<void> mark_sliding_layers() {
    if (!is_known() || state_.rule->windows == Windows::none) return {};
    const ArchitectureRule& rule = *state_.rule;
    if (rule.only_for_layers != 0 && rule.only_for_layers != layer_count()) return {};
    INGOT_TRY(state_.window, keys_.number_or(suffixes::attention_sliding_window, rule.window));
    if (state_.window == 0) return {};
    INGOT_TRY(auto flags,
              keys_.find_flags(suffixes::attention_sliding_window_pattern, layer_count()));
    const std::uint64_t period = flags && flags->period ? *flags->period : rule.period;
    for (std::size_t i = 0; i < layer_count(); ++i) {
      Layer& layer = state_.layers[i];
      if (flags && !flags->layers.empty()) {
        layer.slides = flags->layers[i];
      } else if (rule.windows == Windows::by_key && !flags) {
        layer.slides = false;
      } else {  // A period of 0 means that all layers slide.
        const bool is_full_last = rule.windows != Windows::full_first;
        layer.slides = period == 0 || (is_full_last ? i % period < period - 1 : i % period != 0);
      }
    }
    return read_sliding_heads();
  }

  /// Some models have other heads where they look at a window only.
  Result<void> read_sliding_heads() {
    INGOT_TRY(const auto key, keys_.find_number(suffixes::attention_key_length_swa));
    INGOT_TRY(const auto value, keys_.find_number(suffixes::attention_value_length_swa));
    for (Layer& layer : state_.layers) {
      if (!layer.slides) continue;
      layer.key_width = key.value_or(layer.key_width);
      layer.value_width = value.value_or(layer.value_width);
    }
    return {};
  }

  Result<void> mark_cached_layers() {
    const std::uint64_t count = layer_count();
    INGOT_TRY(const std::uint64_t shared, keys_.number_or(suffixes::attention_shared_kv_layers, 0));
    std::uint64_t own = count - std::min(shared, count);
    if (is_known() && state_.rule->own_cache_layers > 0) {
      own = std::min(own, state_.rule->own_cache_layers);
    }
    const bool keeps = state_.has_cache();
    const bool is_both = is_known() && state_.rule->recurrent == Recurrent::beside_attention;
    for (std::size_t i = 0; i < layer_count(); ++i) {
      Layer& layer = state_.layers[i];
      layer.is_attention =
          layer.heads > 0 && layer.kv_heads > 0 && (is_both || !layer.is_recurrent);
      layer.has_cache = keeps && layer.is_attention && i < own;
    }
    return {};
  }

  Result<void> read_experts() {
    INGOT_TRY(experts_.count, keys_.number_or(suffixes::expert_count, 0));
    INGOT_TRY(experts_.used, keys_.number_or(suffixes::expert_used_count, 0));
    std::uint64_t dense = 0;
    for (const Layer& layer : state_.layers) dense = std::max(dense, layer.feed_forward);
    state_.expert_count = experts_.count;
    state_.experts_used = experts_.used;
    INGOT_TRY(state_.expert_width, keys_.number_or(suffixes::expert_feed_forward_length, dense));
    if (experts_.used > experts_.count) {
      return keys_.refuse(suffixes::expert_used_count, "found " + std::to_string(experts_.used) +
                                                           " of " + std::to_string(experts_.count));
    }
    return {};
  }

  void count_attention_floats() {
    GraphFloats& graph = state_.graph;
    const std::uint64_t query_copies = state_.is_latent ? 4 : 2;
    for (const Layer& layer : state_.layers) {
      if (!layer.is_attention) continue;
      const CheckedNumber query = CheckedNumber(layer.heads) * layer.key_width;
      const CheckedNumber keys_values =
          CheckedNumber(layer.kv_heads) * (CheckedNumber(layer.key_width) + layer.value_width);
      graph.has_attention = true;
      graph.heads = std::max(graph.heads, layer.heads);
      graph.attention = max(graph.attention, CheckedNumber(query_copies) * query +
                                                 CheckedNumber(3) * state_.embedding + keys_values);
    }
  }

  const Model& model_;
  ProfileState& state_;
  HeaderReader keys_;
  const Architecture* row_;
  Experts experts_;
};

/// Parts that are known to be missing from the sums of some models.
void add_notes(const Model& model, ProfileState& state) {
  if (state.rule == nullptr) {
    state.notes.push_back(
        "the architecture is not known: weights are exact, the cache follows the ordinary formula "
        "as far as the header has its numbers");
  }
  const bool counts_indexer =
      std::ranges::any_of(state.layers, [](const Layer& layer) { return layer.indexer_width > 0; });
  if (find_architecture_key(model, "attention.indexer.key_length") != nullptr && !counts_indexer) {
    state.notes.push_back("the cache of the sparse-attention indexer is not counted");
  }
}

}  // namespace

Result<MemoryProfile> MemoryProfile::read(const Model& model, std::span<const TensorType> types) {
  if (!types.empty() && types.size() != model.tensors().size()) {
    return fail(Errc::invalid_argument, "types", "one for each tensor is needed");
  }
  for (const Error& notice : model.notices()) {
    if (notice.code == Errc::shard_missing) return fail(Errc::set_incomplete, notice.subject);
  }
  if (model.tensors().empty()) {
    return fail(Errc::estimate_impossible, "tensors", "the file has none");
  }
  auto state = std::make_unique<ProfileState>();
  state->architecture = model.get_or<std::string_view>(keys::general_architecture, {});
  const Architecture* architecture = find_architecture(state->architecture);
  if (architecture != nullptr && architecture->memory) state->rule = &*architecture->memory;
  ProfileReader reader(model, *state, architecture);
  INGOT_TRY_VOID(reader.read());
  INGOT_TRY_VOID(add_weights(model, types, reader.experts(), *state));
  reader.count_expert_floats();
  add_notes(model, *state);
  return MemoryProfile(std::move(state));
}

MemoryProfile::MemoryProfile(std::unique_ptr<ProfileState> state) noexcept
    : state_(std::move(state)) {}
MemoryProfile::MemoryProfile(MemoryProfile&&) noexcept = default;
MemoryProfile& MemoryProfile::operator=(MemoryProfile&&) noexcept = default;
MemoryProfile::~MemoryProfile() = default;

Result<void> MemoryProfile::add_companion(const Model& companion) {
  const auto type = companion.get_or<std::string_view>(keys::general_type, {});
  const auto architecture = companion.get_or<std::string_view>(keys::general_architecture, {});
  if (type == "adapter") return add_adapter(companion, *state_);
  if (type != "mmproj" && architecture != "clip") {
    return fail(Errc::invalid_argument, std::string(keys::general_type),
                "it is neither an adapter nor a multimodal projector");
  }
  INGOT_TRY(const std::uint64_t bytes, sum_tensors(companion));
  const auto sum = checked_add(state_->projector_bytes, bytes);
  if (!sum) return fail(Errc::size_overflow, "the projectors");
  state_->projector_bytes = *sum;
  if (!state_->images || !*state_->images) state_->images = ProjectorImages::read(companion);
  const auto image = state_->images->and_then(
      [](const ProjectorImages& images) { return images.count(1024, 1024); });
  const bool is_known = image && image->work_bytes > 0;
  state_->notes.emplace_back(
      is_known ? "the work space of the projector is counted for images of --image-size, at most"
               : "the work space of the projector for an image is not known");
  if (!state_->sounds || !*state_->sounds) state_->sounds = ProjectorSounds::read(companion);
  return {};
}

const std::string& MemoryProfile::architecture() const noexcept { return state_->architecture; }
bool MemoryProfile::is_known_architecture() const noexcept { return state_->rule != nullptr; }
std::uint64_t MemoryProfile::layer_count() const noexcept { return state_->layers.size(); }
std::uint64_t MemoryProfile::context_length() const noexcept { return state_->context_length; }
std::uint64_t MemoryProfile::weights_bytes() const noexcept { return state_->weights_bytes; }
bool MemoryProfile::has_experts() const noexcept { return state_->graph.has_experts; }
std::span<const std::string> MemoryProfile::notes() const noexcept { return state_->notes; }

}  // namespace ingot
