// SPDX-License-Identifier: MIT
#include "formats/bump/bump_plan.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "base/checked.hpp"
#include "formats/bump/bump_checks.hpp"
#include "formats/bump/bump_layer.hpp"
#include "formats/bump/bump_metadata.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot::formats {
namespace {

using formats::BumpRole;
using formats::BumpSection;
using formats::BumpShape;

constexpr std::uint64_t superblock_elements = 256;  // the block size of the K-quants

class BumpPlanner {
 public:
  BumpPlanner(const Model& model, const BumpOptions& options) : model_(model), options_(options) {}

  Result<BumpPlan> plan() {
    INGOT_TRY_VOID(choose_dialect());
    INGOT_TRY(metadata_, read_bump_metadata(model_, options_, plan_.codes));
    INGOT_TRY_VOID(measure());
    INGOT_TRY(output_norm_, require("output_norm.weight"));
    INGOT_TRY_VOID(check_type(*token_embd_, "token_emb"));
    INGOT_TRY_VOID(find_layers());
    INGOT_TRY_VOID(check_superblocks());
    INGOT_TRY_VOID(check_vectors());
    INGOT_TRY_VOID(lay_out_sections());
    INGOT_TRY_VOID(check_bump_loss(model_, used_, options_.allow_loss, plan_.remarks));
    add_warnings();
    return std::move(plan_);
  }

 private:
  Result<void> choose_dialect() {
    plan_.version = options_.version;
    if (plan_.version != 3 && plan_.version != 4) {
      return fail(Errc::invalid_argument, "bump version", "3 and 4 can be written");
    }
    plan_.codes = options_.codes.value_or(plan_.version == 3 ? BumpCodes::doc : BumpCodes::engine);
    if (plan_.version == 4 && plan_.codes == BumpCodes::doc) {
      return fail(Errc::invalid_argument, "dtype codes", "version 4 has only those of the engine");
    }
    if (model_.files()[0].version == 1) {
      return refuse_for_bump("version",
                             "GGUF version 1 is not supported here; convert it to version 3 first");
    }
    return {};
  }

  // --- dimensions

  Result<const TensorInfo*> require(const std::string& name) {
    const TensorInfo* tensor = use(name);
    if (tensor == nullptr)
      return refuse_for_bump(std::string(name), "this tensor is missing, and the format needs it");
    return tensor;
  }

  /// The tensor, which counts as used from now on; nullptr if there is none.
  const TensorInfo* use(const std::string& name) {
    const TensorInfo* tensor = model_.find_tensor(name);
    if (tensor != nullptr) used_.insert(tensor->name);
    return tensor;
  }

  std::string key(std::string_view name) const {
    return metadata_.prefix + "." + std::string(name);
  }

  Result<void> measure() {
    INGOT_TRY(token_embd_, require("token_embd.weight"));
    if (token_embd_->shape.size() != 2) {
      return refuse_for_bump("token_embd.weight",
                             "expected 2 dimensions, found " + dimensions_text(token_embd_->shape));
    }
    BumpShape& shape = plan_.shape;
    const std::uint64_t stored = metadata_.embedding.value_or(0);
    shape.embedding = stored != 0 ? stored : token_embd_->shape[0];
    shape.vocabulary = token_embd_->shape[1];
    INGOT_TRY(shape.layers, count_layers());
    INGOT_TRY(shape.feed_forward, find_feed_forward());
    if (!metadata_.heads || *metadata_.heads == 0) {
      return refuse_for_bump(key("attention.head_count"),
                             "expected the number of heads, found none");
    }
    shape.heads = *metadata_.heads;
    shape.kv_heads = metadata_.kv_heads.value_or(0) != 0 ? *metadata_.kv_heads : shape.heads;
    shape.context = options_.context.value_or(metadata_.context.value_or(0));
    if (shape.context == 0) {
      return refuse_for_bump(key("context_length"),
                             "expected a number of tokens; give the context yourself",
                             Remedy::give_context);
    }
    if (shape.embedding != token_embd_->shape[0]) {
      return refuse_for_bump(key("embedding_length"), "it says " + std::to_string(shape.embedding) +
                                                          ", token_embd.weight has rows of " +
                                                          std::to_string(token_embd_->shape[0]));
    }
    if (shape.embedding == 0 || shape.embedding % shape.heads != 0) {
      return refuse_for_bump(key("embedding_length"), std::to_string(shape.embedding) +
                                                          " is not divisible by " +
                                                          std::to_string(shape.heads) + " heads");
    }
    shape.head_width = shape.embedding / shape.heads;
    key_rows_ = shape.kv_heads * shape.head_width;  // both factors are below 2^32
    if (plan_.version == 4) INGOT_TRY_VOID(measure_heads());
    plan_.architecture = metadata_.architecture;
    plan_.epsilon = metadata_.epsilon.value_or(0) != 0 ? *metadata_.epsilon : 1e-5;
    plan_.rope_theta = metadata_.rope_theta.value_or(0) != 0 ? *metadata_.rope_theta : 10000.0;
    return align_widths();
  }

  Result<std::uint64_t> count_layers() const {
    if (metadata_.layers) return *metadata_.layers;
    std::uint64_t layers = 0;
    for (const TensorInfo& tensor : model_.tensors()) {
      layers = std::max(layers, layers_up_to(tensor.name));
    }
    if (layers > 0) return layers;
    return refuse_for_bump(key("block_count"),
                           "the number of layers is neither there nor seen in tensors");
  }

  Result<std::uint64_t> find_feed_forward() const {
    if (metadata_.feed_forward) return *metadata_.feed_forward;
    const TensorInfo* gate = model_.find_tensor("blk.0.ffn_gate.weight");
    if (gate != nullptr && gate->shape.size() == 2) return gate->shape[1];
    return refuse_for_bump(key("feed_forward_length"),
                           "the width is neither there nor seen in tensors");
  }

  /// Version 4 believes the tensors of the first layer more than the metadata.
  Result<void> measure_heads() {
    const TensorInfo* q = model_.find_tensor("blk.0.attn_q.weight");
    const TensorInfo* k = model_.find_tensor("blk.0.attn_k.weight");
    const TensorInfo* o = model_.find_tensor("blk.0.attn_output.weight");
    const auto has_rows = [](const TensorInfo* tensor) {
      return tensor != nullptr && tensor->shape.size() == 2;
    };
    if (!has_rows(q) || !has_rows(k) || !has_rows(o)) return {};
    BumpShape& shape = plan_.shape;
    if (q->shape[1] == shape.embedding && k->shape[1] == key_rows_) return {};
    if (q->shape[1] == 0 || q->shape[1] % shape.heads != 0) {
      return refuse_for_bump("blk.0.attn_q.weight", std::to_string(q->shape[1]) +
                                                        " rows are not divisible by " +
                                                        std::to_string(shape.heads) + " heads");
    }
    shape.head_width = q->shape[1] / shape.heads;
    key_rows_ = k->shape[1];
    return {};
  }

  /// Nothing is padded; see A.5.1 of the description. Every number has to fit 32 bits.
  Result<void> align_widths() {
    BumpShape& shape = plan_.shape;
    shape.aligned_embedding = shape.embedding;
    shape.aligned_head = shape.head_width;
    shape.aligned_feed_forward = shape.feed_forward;
    const std::pair<std::string_view, std::uint64_t> numbers[] = {
        {suffixes::block_count, shape.layers},
        {"token_embd.weight", shape.vocabulary},
        {suffixes::embedding_length, shape.embedding},
        {suffixes::feed_forward_length, shape.feed_forward},
        {suffixes::context_length, shape.context},
        {suffixes::attention_head_count, shape.heads},
        {"head width", shape.head_width},
    };
    for (const auto& [name, number] : numbers) {
      if (number > std::numeric_limits<std::uint32_t>::max()) {
        return refuse_for_bump(std::string(name),
                               std::to_string(number) + " does not fit the 32 bits of the header");
      }
    }
    shape.aligned_context = (shape.context + 15) / 16 * 16;  // lines of 64 bytes
    return {};
  }

  // --- weights

  [[nodiscard]] TensorType written_type(const TensorInfo& tensor) const {
    return bump_holds(tensor.type, plan_.codes) ? tensor.type : TensorType::f32;
  }

  Result<void> check_type(const TensorInfo& tensor, const char* role) const {
    return check_weight_type(tensor, role, plan_.codes, options_.widen);
  }

  Result<void> find_layers() {
    for (std::uint64_t i = 0; i < plan_.shape.layers; ++i) {
      LayerTensors layer;
      INGOT_TRY_VOID(find_layer(i, layer));
      INGOT_TRY_VOID(check_shapes(layer));
      INGOT_TRY_VOID(check_types(i, layer));
      layers_.push_back(layer);
    }
    return {};
  }

  Result<void> find_layer(std::uint64_t i, LayerTensors& layer) {
    for (const LayerTensor& row : layer_tensors) {
      const bool is_bias = row.group == nullptr;
      if (is_bias && plan_.codes == BumpCodes::doc) continue;  // its biases are zeros, always
      layer.*row.member = use("blk." + std::to_string(i) + "." + std::string(row.name));
      if (is_bias || layer.*row.member != nullptr) continue;
      return refuse_for_bump("layer " + std::to_string(i),
                             std::string("its ") + row.group + " are missing");
    }
    return {};
  }

  [[nodiscard]] LayerWidths widths() const {
    const BumpShape& shape = plan_.shape;
    return {shape.embedding, shape.heads * shape.head_width, key_rows_, shape.feed_forward};
  }

  Result<void> check_shapes(const LayerTensors& layer) const {
    const BumpShape& shape = plan_.shape;
    const LayerWidths expected = widths();
    for (const LayerTensor& row : layer_tensors) {
      if (row.rows == nullptr) continue;
      INGOT_TRY_VOID(check_matrix(*(layer.*row.member), expected.*row.columns, expected.*row.rows));
    }
    if (key_rows_ == shape.kv_heads * shape.head_width) return {};
    return refuse_for_bump(std::string(layer.k->name),
                           "expected " + std::to_string(shape.kv_heads) + " heads of " +
                               std::to_string(shape.head_width) + " rows, found " +
                               std::to_string(key_rows_) + " rows");
  }

  Result<void> check_types(std::uint64_t i, LayerTensors& layer) const {
    for (const LayerTensor& row : layer_tensors) {
      if (row.rows != nullptr) INGOT_TRY_VOID(check_type(*(layer.*row.member), row.word));
    }
    layer.gate_and_up_type = written_type(*layer.gate);
    if (layer.gate->type == layer.up->type ||
        written_type(*layer.gate) == written_type(*layer.up)) {
      return {};
    }
    layer.gate_and_up_type = TensorType::f32;
    if (options_.widen) return {};
    return refuse_for_bump("layer " + std::to_string(i),
                           "gate (" + type_text(layer.gate->type) + ") and up (" +
                               type_text(layer.up->type) +
                               ") must be of one type; both can be widened to F32",
                           Remedy::widen);
  }

  /// Demands of the converter of the doc dialect alone.
  Result<void> check_superblocks() const {
    const BumpShape& shape = plan_.shape;
    const bool is_whole =
        shape.embedding % superblock_elements == 0 && shape.feed_forward % superblock_elements == 0;
    if (plan_.version != 3 || plan_.codes != BumpCodes::doc || is_whole) return {};
    const auto check = [&](const TensorInfo& tensor, TensorType type) -> Result<void> {
      if (!is_k_quant(type)) return {};
      return refuse_for_bump(std::string(tensor.name),
                             type_text(type) + " demands widths that are multiples of 256, found " +
                                 std::to_string(shape.embedding) + " and " +
                                 std::to_string(shape.feed_forward) +
                                 "; the engine's codes allow it",
                             Remedy::engine_codes);
    };
    INGOT_TRY_VOID(check(*token_embd_, written_type(*token_embd_)));
    for (const LayerTensors& layer : layers_) {
      for (const TensorInfo* tensor : {layer.q, layer.k, layer.v, layer.o, layer.down}) {
        INGOT_TRY_VOID(check(*tensor, written_type(*tensor)));
      }
      INGOT_TRY_VOID(check(*layer.gate, layer.gate_and_up_type));
    }
    return {};
  }

  // --- norms and biases

  Result<void> check_vectors() {
    const LayerWidths expected = widths();
    for (const LayerTensors& layer : layers_) {
      for (const LayerTensor& row : layer_tensors) {
        if (row.rows == nullptr) {
          INGOT_TRY_VOID(check_vector(layer.*row.member, expected.*row.columns));
        }
      }
      if (layer.q_bias != nullptr || layer.k_bias != nullptr || layer.v_bias != nullptr) {
        plan_.has_attention_biases = true;
      }
    }
    return check_vector(output_norm_, plan_.shape.embedding);
  }

  // --- the file

  [[nodiscard]] TensorType type_of_weight(std::uint64_t layer, BumpRole role) const {
    if (role == BumpRole::token_emb) return written_type(*token_embd_);
    if (role == BumpRole::w1) return layers_[to_size(layer)].gate_and_up_type;
    return written_type(*sources_in_layer(layers_[to_size(layer)], role).front());
  }

  Result<void> lay_out_sections() {
    formats::BumpLayout layout;
    layout.shape = plan_.shape;
    layout.types = formats::table_types(
        plan_.shape.layers,
        [this](std::uint64_t layer, BumpRole role) { return type_of_weight(layer, role); });
    for (const TensorType type : layout.types) {
      plan_.table.push_back(*formats::bump_code_of(type, plan_.codes));
    }
    auto sections = formats::lay_out(layout);
    const auto bytes = sections ? formats::total_bytes(*sections) : std::nullopt;
    constexpr std::uint64_t max_bytes = std::uint64_t{1} << 62;
    if (!bytes || *bytes > max_bytes) return fail(Errc::size_overflow, "bump file");
    plan_.sections = *std::move(sections);
    plan_.payload_bytes = 4 + plan_.table.size() + *bytes;
    for (const BumpSection& section : plan_.sections) INGOT_TRY_VOID(fill(section));
    return {};
  }

  static std::vector<const TensorInfo*> sources_in_layer(const LayerTensors& layer, BumpRole role) {
    std::vector<const TensorInfo*> sources;
    for (const LayerTensor& row : layer_tensors) {
      if (row.section == role) sources.push_back(layer.*row.member);
    }
    return sources.empty() ? std::vector<const TensorInfo*>{nullptr} : sources;
  }

  /// The tensors whose data a section holds, in order; nullptr: zeros.
  [[nodiscard]] std::vector<const TensorInfo*> sources_of(const BumpSection& section) const {
    if (section.role == BumpRole::token_emb) return {token_embd_};
    if (section.role == BumpRole::final_ln_weight) return {output_norm_};
    if (section.layer >= layers_.size()) return {nullptr};
    return sources_in_layer(layers_[to_size(section.layer)], section.role);
  }

  Result<void> fill(const BumpSection& section) {
    std::uint64_t filled = 0;
    for (const TensorInfo* source : sources_of(section)) {
      OutputTensor tensor{.type = section.type,
                          .shape = section.shape,
                          .size_bytes = section.size_bytes,
                          .is_zeros = true};
      if (source != nullptr) {
        INGOT_TRY(tensor, output_of(*source, section.type));
      }
      tensor.name = formats::name_of(section);
      filled += tensor.size_bytes;
      plan_.tensors.push_back(std::move(tensor));
    }
    if (filled == section.size_bytes) return {};
    return fail(Errc::internal, formats::name_of(section));
  }

  void add_warnings() {
    const bool has_plain_output = std::ranges::any_of(layers_, [&](const LayerTensors& layer) {
      return written_type(*layer.o) == TensorType::f32;
    });
    add_engine_warnings(plan_.shape, has_plain_output, plan_.remarks);
  }

  const Model& model_;
  const BumpOptions& options_;
  BumpPlan plan_;
  BumpMetadata metadata_;
  const TensorInfo* token_embd_ = nullptr;
  const TensorInfo* output_norm_ = nullptr;
  std::vector<LayerTensors> layers_;
  std::uint64_t key_rows_ = 0;
  std::set<std::string_view> used_;
};

}  // namespace

Result<BumpPlan> plan_bump_file(const Model& model, const BumpOptions& options) {
  return BumpPlanner(model, options).plan();
}

}  // namespace ingot::formats
