// SPDX-License-Identifier: MIT
#include "evaluation/network.hpp"

#include <algorithm>
#include <unordered_set>

namespace ingot::evaluation {
namespace {

constexpr std::size_t max_vocabulary = std::size_t{1} << 28;

enum class Need : std::uint8_t { required, optional };

std::string text_of(std::span<const std::uint64_t> shape) {
  std::string text;
  for (const std::uint64_t size : shape) {
    text += (text.empty() ? "" : " x ") + std::to_string(size);
  }
  return text;
}

/// Trailing dimensions of 1 have no meaning.
bool is_same_shape(std::span<const std::uint64_t> shape, std::span<const std::uint64_t> wanted) {
  for (std::size_t i = 0; i < std::max(shape.size(), wanted.size()); ++i) {
    const std::uint64_t size = i < shape.size() ? shape[i] : 1;
    if (size != (i < wanted.size() ? wanted[i] : 1)) return false;
  }
  return true;
}

/// Takes tensors from a model by name, and remembers which.
class Finder {
 public:
  explicit Finder(const Model& model) : model_(model) {}

  Result<const TensorInfo*> find(const std::string& name, std::vector<std::uint64_t> shape,
                                 Need need) {
    const TensorInfo* tensor = model_.find_tensor(name);
    if (tensor == nullptr) {
      if (need == Need::optional) return nullptr;
      return fail(Errc::tensor_not_found, name, "the architecture needs it");
    }
    if (!is_same_shape(tensor->shape, shape)) {
      return refuse(
          name, "its shape is " + text_of(tensor->shape) + "; the keys call for " + text_of(shape));
    }
    if (find_type(tensor->type) == nullptr) return fail(Errc::unsupported_type, name);
    used_.insert(tensor);
    return tensor;
  }

  /// A vector, decoded; empty if it is optional and not there.
  Result<std::vector<float>> vector(const std::string& name, std::size_t size, Need need,
                                    std::size_t row_count = 1) {
    INGOT_TRY(const TensorInfo* tensor, find(name, {size, row_count}, need));
    std::vector<float> floats;
    if (tensor == nullptr) return floats;
    floats.resize(size * row_count);
    INGOT_TRY_VOID(model_.dequantize_rows(*tensor, 0, row_count, floats));
    return floats;
  }

  /// `NAME.weight`, and `NAME.bias` if there is one.
  Result<Matrix> matrix(const std::string& name, std::size_t columns, std::size_t rows,
                        Need need = Need::required) {
    INGOT_TRY(const TensorInfo* tensor, find(name + ".weight", {columns, rows}, need));
    if (tensor == nullptr) return Matrix{};
    INGOT_TRY(std::vector<float> bias, vector(name + ".bias", rows, Need::optional));
    return Matrix{tensor, 0, rows, columns, std::move(bias)};
  }

  Result<Matrix> experts(const std::string& name, std::size_t columns, std::size_t rows,
                         std::size_t count) {
    INGOT_TRY(const TensorInfo* tensor,
              find(name + ".weight", {columns, rows, count}, Need::required));
    return Matrix{tensor, 0, rows, columns, {}};
  }

  Result<Norm> norm(const std::string& name, std::size_t size, Need need, NormKind kind,
                    std::size_t row_count = 1) {
    Norm norm;
    INGOT_TRY(norm.weight, vector(name + ".weight", size, need, row_count));
    if (kind == NormKind::layer && norm.exists()) {
      INGOT_TRY(norm.bias, vector(name + ".bias", size, Need::optional, row_count));
    }
    return norm;
  }

  /// Errors for a tensor that nothing has taken: it would change the results.
  Result<void> require_all_used() const {
    for (const TensorInfo& tensor : model_.tensors()) {
      if (used_.contains(&tensor)) continue;
      return refuse_kind(tensor.name, "the architecture has no place for this tensor");
    }
    return {};
  }

 private:
  const Model& model_;
  std::unordered_set<const TensorInfo*> used_;
};

/// Splits the rows of a fused matrix.
Matrix part_of(const Matrix& fused, std::size_t first_row, std::size_t row_count) {
  Matrix part{fused.tensor, first_row, row_count, fused.columns, {}};
  if (!fused.bias.empty()) {
    const auto first = fused.bias.begin() + static_cast<std::ptrdiff_t>(first_row);
    part.bias.assign(first, first + static_cast<std::ptrdiff_t>(row_count));
  }
  return part;
}

/// Makes the layers of one model.
class LayerMaker {
 public:
  LayerMaker(const Model& model, const Settings& settings, Finder& finder)
      : model_(model), settings_(settings), finder_(finder) {}

  Result<Layer> make(std::size_t index) {
    prefix_ = "blk." + std::to_string(index) + ".";
    Layer layer;
    INGOT_TRY_VOID(add_norms(layer));
    INGOT_TRY_VOID(add_attention(layer));
    INGOT_TRY_VOID(settings_.expert_count > 0 ? add_experts(layer) : add_feed_forward(layer));
    return layer;
  }

 private:
  Result<void> add_norms(Layer& layer) {
    const Architecture& kind = settings_.kind;
    const std::size_t width = settings_.width;
    if (kind.has_pre_norms) {
      INGOT_TRY(layer.attention_norm,
                finder_.norm(prefix_ + "attn_norm", width, Need::required, kind.norm));
      const Need need = kind.may_be_parallel ? Need::optional : Need::required;
      INGOT_TRY(layer.feed_forward_norm,
                finder_.norm(prefix_ + "ffn_norm", width, need, kind.norm));
    }
    if (kind.has_post_norms) {
      INGOT_TRY(layer.post_attention_norm,
                finder_.norm(prefix_ + "post_attention_norm", width, Need::required, kind.norm));
      INGOT_TRY(layer.post_feed_forward_norm,
                finder_.norm(prefix_ + "post_ffw_norm", width, Need::required, kind.norm));
    }
    return {};
  }

  Result<void> add_attention(Layer& layer) {
    const std::size_t width = settings_.width;
    const std::size_t query = settings_.query_size();
    const std::size_t key = settings_.kv_head_count * settings_.key_size;
    const std::size_t value = settings_.kv_head_count * settings_.value_size;
    if (model_.find_tensor(prefix_ + "attn_qkv.weight") != nullptr) {
      INGOT_TRY(const Matrix fused,
                finder_.matrix(prefix_ + "attn_qkv", width, query + key + value));
      layer.query = part_of(fused, 0, query);
      layer.key = part_of(fused, query, key);
      layer.value = part_of(fused, query + key, value);
    } else {
      INGOT_TRY(layer.query, finder_.matrix(prefix_ + "attn_q", width, query));
      INGOT_TRY(layer.key, finder_.matrix(prefix_ + "attn_k", width, key));
      INGOT_TRY(layer.value, finder_.matrix(prefix_ + "attn_v", width, value));
    }
    INGOT_TRY(layer.output, finder_.matrix(prefix_ + "attn_output",
                                           settings_.head_count * settings_.value_size, width));
    return add_head_norms(layer);
  }

  Result<void> add_head_norms(Layer& layer) {
    const HeadNorm head_norm = settings_.kind.head_norm;
    if (head_norm == HeadNorm::none) return {};
    const auto find = [&](const char* name, std::size_t heads) {
      std::size_t size = settings_.key_size;
      std::size_t rows = 1;
      if (head_norm == HeadNorm::whole) size *= heads;
      if (head_norm == HeadNorm::optional) rows = heads;
      const Need need = head_norm == HeadNorm::optional ? Need::optional : Need::required;
      return finder_.norm(prefix_ + name, size, need, NormKind::rms, rows);
    };
    INGOT_TRY(layer.query_norm, find("attn_q_norm", settings_.head_count));
    INGOT_TRY(layer.key_norm, find("attn_k_norm", settings_.kv_head_count));
    return {};
  }

  Result<void> add_feed_forward(Layer& layer) {
    const std::size_t width = settings_.width;
    const std::size_t inner = settings_.feed_forward;
    FeedForward& made = layer.feed_forward;
    if (settings_.kind.has_fused_gate) {
      INGOT_TRY(const Matrix fused, finder_.matrix(prefix_ + "ffn_up", width, 2 * inner));
      made.gate = part_of(fused, 0, inner);
      made.up = part_of(fused, inner, inner);
    } else {
      INGOT_TRY(made.gate, finder_.matrix(prefix_ + "ffn_gate", width, inner));
      INGOT_TRY(made.up, finder_.matrix(prefix_ + "ffn_up", width, inner));
    }
    INGOT_TRY(made.down, finder_.matrix(prefix_ + "ffn_down", inner, width));
    return {};
  }

  Result<void> add_experts(Layer& layer) {
    const std::size_t width = settings_.width;
    const std::size_t inner = settings_.expert_feed_forward;
    const std::size_t count = settings_.expert_count;
    INGOT_TRY(layer.router, finder_.matrix(prefix_ + "ffn_gate_inp", width, count));
    INGOT_TRY(layer.experts.gate, finder_.experts(prefix_ + "ffn_gate_exps", width, inner, count));
    INGOT_TRY(layer.experts.up, finder_.experts(prefix_ + "ffn_up_exps", width, inner, count));
    INGOT_TRY(layer.experts.down, finder_.experts(prefix_ + "ffn_down_exps", inner, width, count));
    if (!settings_.kind.has_shared_expert) return {};
    const std::size_t shared = settings_.shared_feed_forward;
    INGOT_TRY(layer.shared_router,
              finder_.vector(prefix_ + "ffn_gate_inp_shexp.weight", width, Need::required));
    INGOT_TRY(layer.shared_expert.gate, finder_.matrix(prefix_ + "ffn_gate_shexp", width, shared));
    INGOT_TRY(layer.shared_expert.up, finder_.matrix(prefix_ + "ffn_up_shexp", width, shared));
    INGOT_TRY(layer.shared_expert.down, finder_.matrix(prefix_ + "ffn_down_shexp", shared, width));
    return {};
  }

  const Model& model_;
  const Settings& settings_;
  Finder& finder_;
  std::string prefix_;
};

Result<void> add_rope_factors(Finder& finder, Network& network) {
  const std::size_t pairs = network.settings.rope.rotated / 2;
  INGOT_TRY(network.rope_factors, finder.vector("rope_freqs.weight", pairs, Need::optional));
  network.long_rope_factors = network.rope_factors;
  if (!network.rope_factors.empty()) return {};
  INGOT_TRY(network.rope_factors,
            finder.vector("rope_factors_short.weight", pairs, Need::optional));
  INGOT_TRY(network.long_rope_factors,
            finder.vector("rope_factors_long.weight", pairs, Need::optional));
  return {};
}

Result<void> add_output(Finder& finder, const Model& model, Network& network) {
  const Settings& settings = network.settings;
  INGOT_TRY(network.output_norm,
            finder.norm("output_norm", settings.width, Need::required, settings.kind.norm));
  const bool has_own = model.find_tensor("output.weight") != nullptr;
  if (settings.kind.is_always_tied || (!has_own && !settings.kind.needs_output)) {
    network.output = network.embedding;
    return {};
  }
  INGOT_TRY(network.output, finder.matrix("output", settings.width, network.vocabulary_size()));
  return {};
}

}  // namespace

Result<Network> make_network(const Model& model) {
  Network network;
  INGOT_TRY(network.settings, read_settings(model));
  constexpr const char* embedding_name = "token_embd.weight";
  const TensorInfo* embedding = model.find_tensor(embedding_name);
  const bool has_rows = embedding != nullptr && embedding->shape.size() == 2;
  Finder finder(model);
  INGOT_TRY(network.embedding, finder.matrix("token_embd", network.settings.width,
                                             has_rows ? embedding->shape[1] : 1));
  if (network.vocabulary_size() == 0 || network.vocabulary_size() > max_vocabulary) {
    return refuse(embedding_name, "it has " + std::to_string(network.vocabulary_size()) +
                                      " rows; from 1 to " + std::to_string(max_vocabulary) +
                                      " are supported");
  }
  LayerMaker maker(model, network.settings, finder);
  for (std::size_t i = 0; i < network.settings.layer_count; ++i) {
    INGOT_TRY(Layer layer, maker.make(i));
    network.layers.push_back(std::move(layer));
  }
  INGOT_TRY_VOID(add_output(finder, model, network));
  INGOT_TRY_VOID(add_rope_factors(finder, network));
  INGOT_TRY_VOID(finder.require_all_used());
  return network;
}

}  // namespace ingot::evaluation
