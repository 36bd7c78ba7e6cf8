// SPDX-License-Identifier: MIT
#include "huggingface/import/tensors/tensor_plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/strings.hpp"
#include "huggingface/folder/refusal.hpp"
#include "huggingface/import/tensors/extra_tensors.hpp"
#include "huggingface/import/tensors/layer_check.hpp"
#include "huggingface/import/tensors/lora_product.hpp"
#include "huggingface/import/tensors/quantized/mxfp4_experts.hpp"
#include "huggingface/import/tensors/quantized/nvfp4_weights.hpp"
#include "huggingface/import/tensors/tensor_name_map.hpp"
#include "huggingface/import/tensors/transforms.hpp"
#include "huggingface/import/tensors/type_choice.hpp"

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
        rules_{.config = task_.config,
               .as_reference = task_.as_reference,
               .tensors = task_.shapes,
               .target = task_.target} {}

  Result<TensorPlan> plan() {
    INGOT_TRY(layer_count_, task_.config.layer_count());
    if (!task_.is_adapter) INGOT_TRY_VOID(add_extra_tensors());
    INGOT_TRY_VOID(add_mxfp4_experts());
    INGOT_TRY_VOID(add_mxfp4_stacks());
    INGOT_TRY_VOID(add_others());
    std::ranges::stable_sort(plan_.tensors, {}, &PlannedTensor::place);
    if (!task_.is_adapter && !task_.is_projector) INGOT_TRY_VOID(check_whole());
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
      if (rule.sines.is_set()) info.shape = {numbers->size() / sine_positions, sine_positions};
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

  /// Experts with a tensor of codes and one of scales each, by layer and part.
  Result<void> add_mxfp4_stacks() {
    std::set<std::string> used;
    std::map<std::string, const SourceTensor*> by_name;
    for (const SourceTensor& tensor : task_.tensors) by_name[tensor.name] = &tensor;
    for (const TransformRule& rule : task_.architecture.transforms) {
      const auto* const operation = std::get_if<Mxfp4Stack>(&rule.operation);
      if (operation == nullptr) continue;
      std::map<std::pair<std::uint64_t, std::size_t>, std::map<std::uint64_t, NameParts>> stacks;
      for (const SourceTensor& tensor : task_.tensors) {
        const auto parts = rule.names.front().match(tensor.name, rule.parts);
        if (!parts || !parts->layer || !parts->expert) continue;
        const auto part = std::ranges::find(rule.parts, parts->part) - rule.parts.begin();
        stacks[{*parts->layer, static_cast<std::size_t>(part)}].emplace(*parts->expert, *parts);
      }
      INGOT_TRY(const std::uint64_t count, operation->count.evaluate_count(rules_, "count"));
      for (const auto& [place, experts] : stacks) {
        INGOT_TRY_VOID(add_mxfp4_stack(rule, *operation, count, experts, by_name, used));
      }
    }
    std::erase_if(task_.tensors, [&](const auto& tensor) { return used.contains(tensor.name); });
    return {};
  }

  Result<void> add_mxfp4_stack(const TransformRule& rule, const Mxfp4Stack& operation,
                               std::uint64_t count,
                               const std::map<std::uint64_t, NameParts>& experts,
                               const std::map<std::string, const SourceTensor*>& by_name,
                               std::set<std::string>& used) {
    std::vector<std::pair<SourceTensor, SourceTensor>> tensors;
    ImportedTensor info{.name = {}, .type = TensorType::mxfp4};
    for (const auto& [expert, parts] : experts) {
      INGOT_TRY(const std::string codes, fill_pattern(rule.names.front().text(), parts, ""));
      INGOT_TRY(const std::string scales, fill_pattern(operation.scales, parts, codes));
      const auto found = by_name.find(scales);
      if (found == by_name.end()) return refuse(scales, "the tensor is missing");
      if (expert != tensors.size() || expert >= count) {
        return refuse(codes, "config.json counts " + std::to_string(count) +
                                 " experts, and those before it must be there");
      }
      tensors.emplace_back(*by_name.at(codes), *found->second);
      used.insert({codes, scales});
      info.sources.insert(info.sources.end(), {codes, scales});
    }
    if (tensors.size() != count) return refuse(tensors.back().first.name, "experts are missing");
    INGOT_TRY(Mxfp4Experts joined, join_mxfp4_experts(tensors));
    INGOT_TRY(const std::string name,
              fill_pattern(operation.to[0], experts.begin()->second, info.sources.front()));
    INGOT_TRY(info.name, mapped(name));
    info.shape.assign(joined.shape.rbegin(), joined.shape.rend());
    info.transform = Mxfp4Stack::name;
    return add(std::move(info), std::move(joined.pieces), TensorPlace::before_others);
  }

  Result<void> add_others() {
    const TransformContext context{.rules = rules_, .tokens = task_.tokens};
    Transformer transformer(task_.architecture, context);
    for (const SourceTensor& tensor : task_.tensors) {
      if (tensor.nvfp4 != nullptr) kept_.emplace(tensor.name, tensor.nvfp4);
      INGOT_TRY(TensorView whole,
                tensor.nvfp4 != nullptr ? groups_.view_of(tensor) : view_of_numbers(tensor));
      INGOT_TRY(std::vector<TensorView> views, transformer.apply(std::move(whole)));
      for (TensorView& view : views) INGOT_TRY_VOID(add_view(std::move(view)));
    }
    return transformer.finish();
  }

  [[nodiscard]] Result<TensorView> view_of_numbers(const SourceTensor& tensor) {
    INGOT_TRY(auto numbers, tensor.numbers());
    const TensorType stored = numbers->type();
    if (tensor.computed == nullptr) stored_.emplace(tensor.name, stored);
    TensorView view = view_of(tensor.name, tensor.shape, std::move(numbers));
    const bool keeps = task_.architecture.keeps_types;
    if (tensor.is_fp8() && (keeps || task_.fp8_as_q8_0)) {
      view.type = TensorType::q8_0;
    } else if (keeps && (stored == TensorType::f32 || stored == TensorType::bf16)) {
      view.type = stored;
    }
    return view;
  }

  Result<void> add_view(TensorView view) {
    std::string name = view.name;
    if (!view.has_gguf_name) {
      INGOT_TRY(name, mapped(view.name));
    }
    if (view.type == TensorType::nvfp4) return add_nvfp4(std::move(name), std::move(view));
    if (!task_.is_adapter) return add_or_fuse(std::move(name), std::move(view));
    if (is_product(view)) return add_halves(name, view);
    if (name.find("_norm") == name.npos || view.shape.size() != 1) {
      return fail(Errc::adapter_invalid, view.name, "only norms may come whole");
    }
    return add_named(std::move(name), std::move(view));
  }

  /// A weight that stays in NVFP4, and its scales if they are not 1.
  Result<void> add_nvfp4(std::string name, TensorView view) {
    std::vector<float> weights;
    std::vector<float> inputs;
    for (const std::string& source : view.sources) {
      const auto kept = kept_.find(source);
      if (kept == kept_.end()) return refuse(source, "it is not in NVFP4 as others of its stack");
      weights.push_back(kept->second->weight);
      inputs.push_back(kept->second->input);
    }
    ImportedTensor info{.name = name, .type = TensorType::nvfp4};
    info.shape.assign(view.shape.rbegin(), view.shape.rend());
    info.shape.front() *= nvfp4_group;
    info.sources = view.sources;
    info.transform = joined(view.applied);
    INGOT_TRY(auto pieces, groups_.pieces_of(std::move(view)));
    INGOT_TRY_VOID(add(info, std::move(pieces), TensorPlace::before_others));
    const std::string base = name.substr(0, name.rfind('.'));
    INGOT_TRY_VOID(add_scales(base + ".scale", info, weights));
    return add_scales(base + ".input_scale", info, inputs);
  }

  Result<void> add_scales(std::string name, const ImportedTensor& weight,
                          std::span<const float> scales) {
    const bool is_one = std::ranges::all_of(
        scales, [](float scale) { return std::abs(static_cast<double>(scale) - 1) < 1e-6; });
    if (is_one) return {};
    ImportedTensor info{.name = std::move(name), .type = TensorType::f32};
    info.shape = {scales.size()};
    info.sources = weight.sources;
    const auto bytes = std::as_bytes(scales);
    return add(std::move(info), pieces_of(std::vector<std::byte>(bytes.begin(), bytes.end())),
               TensorPlace::before_others);
  }

  /// Gate and up matrices of experts become one tensor, if that is wanted and both are there.
  Result<void> add_or_fuse(std::string name, TensorView view) {
    constexpr std::string_view gate = ".ffn_gate_exps.weight";
    constexpr std::string_view up = ".ffn_up_exps.weight";
    if (!task_.fuses_experts || !ends_with_one(name, {gate, up})) {
      return add_named(std::move(name), std::move(view));
    }
    const bool is_gate = name.ends_with(gate);
    const std::string layer = name.substr(0, name.size() - (is_gate ? gate : up).size());
    const auto held = held_.find(layer);
    if (held == held_.end()) return held_.emplace(layer, std::move(view)), Result<void>();
    TensorView other = std::move(held_.extract(held).mapped());
    TensorView& first = is_gate ? view : other;
    TensorView& second = is_gate ? other : view;
    INGOT_TRY(TensorView fused, join_rows_of_experts(std::move(first), std::move(second)));
    return add_named(layer + ".ffn_gate_up_exps.weight", std::move(fused));
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
    info.sources = view.sources;
    info.transform = joined(view.applied);
    const bool is_stored = std::ranges::all_of(view.sources, [&](const std::string& source) {
      const auto stored = stored_.find(source);
      return stored != stored_.end() && stored->second == view.parts.front().source->type();
    });
    INGOT_TRY_VOID(choose_type(task_, view, is_stored, info, plan_.remarks));
    const auto rounding = info.exact == true ? Rounding::none : Rounding::nearest;
    const TensorType type = info.type;
    const TensorPlace place = view.place;
    return add(std::move(info), pieces_of(std::move(view), type, rounding), place);
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

  Result<void> add(ImportedTensor info, std::shared_ptr<const PieceSource> pieces,
                   TensorPlace place = TensorPlace::usual) {
    if (is_left_out(info.name)) return {};
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
    // Of models that make sound of tokens the layers are wider than the embedding.
    const bool has_features = task_.config.find("n_embd_features") != nullptr;
    const std::string width_name = has_features ? "n_embd_features" : "hidden_size";
    const auto width = task_.config.find_count(width_name);
    if (info.name == "token_embd.weight" && width && *width && info.shape[0] != **width) {
      return refuse(info.name, "its rows have " + std::to_string(info.shape[0]) +
                                   " elements; config.json states a " + width_name + " of " +
                                   std::to_string(**width));
    }
    if (!added_.insert(info.name).second) {
      return fail(Errc::tensor_duplicate, info.name, "from " + info.sources.front());
    }
    info.size_bytes = find_type(info.type)->bytes_of(elements);
    if (task_.is_exact && !info.exact) {
      // It is computed, or its codes are moved as they are.
      info.exact = true;
      info.max_error = 0;
    }
    plan_.tensors.push_back({std::move(info), std::move(pieces), place});
    return {};
  }

  /// Whether only some layers are wanted, and this is a tensor of another.
  [[nodiscard]] bool is_left_out(std::string_view name) const {
    if (!task_.first_layer) return false;
    const auto layer = name.starts_with("blk.") ? layer_of(name) : std::nullopt;
    if (layer) return *layer < *task_.first_layer;
    if (!task_.architecture.shared_with_draft.empty()) return false;  // others are not read
    return name != "token_embd.weight" && name != "output_norm.weight" && name != "output.weight" &&
           name != "rope_freqs.weight";
  }

  /// Refuses a model that lacks tensors.
  Result<void> check_whole() const {
    if (!held_.empty()) {
      return refuse(held_.begin()->second.name, "its layer has no other half to join it with");
    }
    if (task_.first_layer) return {};
    if (added_.count("token_embd.weight") == 0 && !task_.architecture.is_draft) {
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
    if (task_.architecture.has_empty_layers) return {};
    return check_layers(plan_.tensors, layer_count_, task_.architecture.layers_differ);
  }

  TensorTask task_;
  RuleContext rules_;
  TensorPlan plan_;
  std::uint64_t layer_count_ = 0;
  std::optional<TensorNameMap> names_;
  Nvfp4Groups groups_;
  std::map<std::string, std::shared_ptr<const Nvfp4Scales>, std::less<>> kept_;  // in NVFP4
  std::map<std::string, TensorType, std::less<>> stored_;  // of tensors that are not computed
  std::map<std::string, TensorView> held_;                 // halves of experts, by layer
  std::set<std::string> added_;
};

}  // namespace

Result<TensorPlan> plan_tensors(TensorTask task) { return TensorPlanner(std::move(task)).plan(); }

}  // namespace ingot::huggingface
