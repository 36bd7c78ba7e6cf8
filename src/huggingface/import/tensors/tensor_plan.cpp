// SPDX-License-Identifier: MIT
#include "huggingface/import/tensors/tensor_plan.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "base/strings.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/extra_tensors.hpp"
#include "huggingface/import/tensors/layer_check.hpp"
#include "huggingface/import/tensors/lora_product.hpp"
#include "huggingface/import/tensors/mxfp4_experts.hpp"
#include "huggingface/import/tensors/tensor_name_map.hpp"
#include "huggingface/import/tensors/transforms.hpp"

namespace ingot::huggingface {
namespace {

constexpr std::size_t max_dimensions = 4;

/// Tensors whose rows are as long as the hidden state, in every architecture that has them.
bool reads_hidden_state(std::string_view name) {
  return name == "output.weight" ||
         ends_with_one(name, {".attn_q.weight", ".attn_k.weight", ".attn_v.weight",
                              ".attn_qkv.weight", ".ffn_gate.weight", ".ffn_up.weight"});
}

class TensorPlanner {
 public:
  explicit TensorPlanner(TensorTask task)
      : task_(std::move(task)),
        rules_{.config = task_.config, .as_reference = task_.as_reference} {}

  Result<TensorPlan> plan() {
    INGOT_TRY(layer_count_, task_.config.layer_count());
    if (!task_.is_adapter) INGOT_TRY_VOID(add_extra_tensors());
    INGOT_TRY_VOID(add_mxfp4_experts());
    INGOT_TRY_VOID(add_others());
    if (!task_.is_adapter) INGOT_TRY_VOID(check_whole());
    return std::move(plan_);
  }

 private:
  Result<void> add_extra_tensors() {
    for (const ExtraTensorRule& rule : task_.architecture.extra_tensors) {
      INGOT_TRY(const auto numbers, extra_numbers(rule, rules_));
      if (!numbers) {
        INGOT_TRY_VOID(remark_left_out(rule));
        continue;
      }
      std::vector<std::byte> bytes(numbers->size() * sizeof(float));
      std::memcpy(bytes.data(), numbers->data(), bytes.size());
      ImportedTensor info{.name = rule.tensor, .type = TensorType::f32};
      info.shape = {numbers->size()};
      info.sources = {"config.json"};
      INGOT_TRY_VOID(add(std::move(info), pieces_of(std::move(bytes))));
    }
    return {};
  }

  /// Adds a remark on a tensor that only the reference converter makes.
  Result<void> remark_left_out(const ExtraTensorRule& rule) {
    INGOT_TRY(const auto numbers,
              extra_numbers(rule, {.config = task_.config, .as_reference = true}));
    if (!numbers) return {};
    plan_.remarks.push_back({Errc::left_out, Error::no_offset, rule.tensor,
                             "the engine refuses a model of this architecture that has it, and "
                             "does not scale its positions; --as-reference writes it"});
    return {};
  }

  /// Blocks and scales become one tensor; both disappear from the list.
  Result<void> add_mxfp4_experts() {
    std::vector<SourceTensor>& tensors = task_.tensors;
    std::set<std::string> used;
    for (const SourceTensor& tensor : tensors) {
      for (const TransformRule& rule : task_.architecture.transforms) {
        const auto* const operation = std::get_if<Mxfp4Blocks>(&rule.operation);
        if (operation == nullptr) continue;
        const auto parts = rule.names.front().match(tensor.name);
        if (!parts) continue;
        INGOT_TRY(const std::string scales_name,
                  fill_pattern(operation->scales, *parts, tensor.name));
        const auto scales = std::ranges::find(tensors, scales_name, &SourceTensor::name);
        if (scales == tensors.end()) return refuse(scales_name, "the tensor is missing");
        used.insert({tensor.name, scales_name});
        INGOT_TRY_VOID(add_experts(operation->to, *parts, tensor, *scales));
      }
    }
    std::erase_if(tensors, [&](const auto& tensor) { return used.count(tensor.name) != 0; });
    return {};
  }

  Result<void> add_experts(std::span<const std::string> to, const NameParts& parts,
                           const SourceTensor& blocks, const SourceTensor& scales) {
    for (std::size_t i = 0; i < to.size(); ++i) {
      INGOT_TRY(const std::string name, fill_pattern(to[i], parts, blocks.name));
      INGOT_TRY(Mxfp4Experts experts, mxfp4_experts(blocks, scales, i, to.size()));
      ImportedTensor info{.name = {}, .type = TensorType::mxfp4};
      INGOT_TRY(info.name, mapped(name));
      info.shape.assign(experts.shape.rbegin(), experts.shape.rend());
      info.sources = {blocks.name, scales.name};
      info.transform = Mxfp4Blocks::name;
      INGOT_TRY_VOID(add(std::move(info), std::move(experts.pieces)));
    }
    return {};
  }

  Result<void> add_others() {
    const TransformContext context{.rules = rules_, .tokens = task_.tokens};
    Transformer transformer(task_.architecture, context);
    for (const SourceTensor& tensor : task_.tensors) {
      INGOT_TRY(auto numbers, tensor.numbers());
      INGOT_TRY(std::vector<TensorView> views,
                transformer.apply(view_of(tensor.name, tensor.shape, std::move(numbers))));
      for (TensorView& view : views) INGOT_TRY_VOID(add_view(std::move(view)));
    }
    return transformer.finish();
  }

  Result<void> add_view(TensorView view) {
    std::string name = view.name;
    if (!view.has_gguf_name) {
      INGOT_TRY(name, mapped(view.name));
    }
    if (!task_.is_adapter) return add_named(std::move(name), std::move(view));
    if (is_product(view)) return add_halves(name, view);
    if (name.find("_norm") == name.npos || view.shape.size() != 1) {
      return fail(Errc::adapter_invalid, view.name, "only norms may come whole");
    }
    return add_named(std::move(name), std::move(view));
  }

  Result<void> add_halves(const std::string& name, const TensorView& view) {
    const auto hidden = task_.config.find_count("hidden_size");
    const std::uint64_t row = view.shape.back();
    if (reads_hidden_state(name) && hidden && *hidden && row != **hidden) {
      return fail(Errc::adapter_mismatch, view.name,
                  "it changes rows of " + std::to_string(row) +
                      " elements; config.json of the base states a hidden_size of " +
                      std::to_string(**hidden));
    }
    INGOT_TRY(LoraHalves halves, halves_of(view, name == "token_embd.weight"));
    INGOT_TRY_VOID(add_named(name + ".lora_a", std::move(halves.a)));
    return add_named(name + ".lora_b", std::move(halves.b));
  }

  Result<void> add_named(std::string name, TensorView view) {
    ImportedTensor info;
    info.name = std::move(name);
    info.shape.assign(view.shape.rbegin(), view.shape.rend());
    if (info.shape.empty()) info.shape = {1};
    info.type = choose_type(info);
    info.sources = view.sources;
    info.transform = joined(view.applied);
    const TensorType type = info.type;
    return add(std::move(info), pieces_of(std::move(view), type));
  }

  Result<std::string> mapped(const std::string& name) {
    if (!names_) names_.emplace(task_.table, task_.architecture, layer_count_);
    auto found = names_->find(name);
    if (found) return *std::move(found);
    const auto layer = layer_of(name);
    return refuse(name, layer && *layer >= layer_count_
                            ? "config.json counts " + std::to_string(layer_count_) + " layers"
                            : "the architecture " + task_.architecture.name +
                                  " has no tensor of this name, so it cannot be mapped");
  }

  TensorType choose_type(const ImportedTensor& tensor) {
    using enum TensorType;
    const bool is_weight = ends_with_one(tensor.name, {".weight", ".lora_a", ".lora_b"});
    if (tensor.shape.size() < 2 || tensor.name.ends_with("_norm.weight") || !is_weight ||
        fits_one(task_.table.always_f32(), tensor.name)) {
      return f32;
    }
    const bool is_ternary = task_.type == tq1_0 || task_.type == tq2_0;
    if (is_ternary && (tensor.name == "token_embd.weight" || tensor.name == "output.weight")) {
      return f16;
    }
    if (tensor.shape[0] % find_type(task_.type)->block_elements == 0) return task_.type;
    plan_.remarks.push_back(
        {.code = Errc::type_does_not_fit,
         .subject = tensor.name,
         .detail = "F16 instead of " + std::string(find_type(task_.type)->name)});
    return f16;
  }

  Result<void> add(ImportedTensor info, std::shared_ptr<const PieceSource> pieces) {
    if (info.shape.size() > max_dimensions) {
      return refuse(info.name,
                    "GGUF has at most " + std::to_string(max_dimensions) + " dimensions");
    }
    std::uint64_t elements = 1;
    for (const std::uint64_t size : info.shape) {
      if (size == 0 || __builtin_mul_overflow(elements, size, &elements)) {
        return refuse(info.name, "its shape has no elements, or too many");
      }
    }
    const auto hidden = task_.config.find_count("hidden_size");
    if (info.name == "token_embd.weight" && hidden && *hidden && info.shape[0] != **hidden) {
      return refuse(info.name, "its rows have " + std::to_string(info.shape[0]) +
                                   " elements; config.json states a hidden_size of " +
                                   std::to_string(**hidden));
    }
    if (!added_.insert(info.name).second) {
      return fail(Errc::tensor_duplicate, info.name, "from " + info.sources.front());
    }
    info.size_bytes = find_type(info.type)->bytes_of(elements);
    plan_.tensors.push_back({std::move(info), std::move(pieces)});
    return {};
  }

  /// Refuses a model that lacks tensors.
  Result<void> check_whole() const {
    if (added_.count("token_embd.weight") == 0) {
      return refuse("token_embd.weight", "the folder has no embeddings of tokens");
    }
    for (const TransformRule& rule : task_.architecture.transforms) {
      const auto* const operation = std::get_if<TakeRows>(&rule.operation);
      if (operation == nullptr || added_.count(operation->to[0]) != 0) continue;
      INGOT_TRY(const bool is_meant, applies(rule, rules_));
      if (is_meant) {
        return refuse(operation->to[0],
                      "it is made of " + rule.names.front().text() + ", which the folder lacks");
      }
    }
    return check_layers(plan_.tensors, layer_count_, task_.architecture.layers_differ);
  }

  TensorTask task_;
  RuleContext rules_;
  TensorPlan plan_;
  std::uint64_t layer_count_ = 0;
  std::optional<TensorNameMap> names_;
  std::set<std::string> added_;
};

}  // namespace

Result<TensorPlan> plan_tensors(TensorTask task) { return TensorPlanner(std::move(task)).plan(); }

}  // namespace ingot::huggingface
