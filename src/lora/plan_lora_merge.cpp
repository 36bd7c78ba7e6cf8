// SPDX-License-Identifier: MIT
// plan_lora_merge: which tensors change, and by what.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "ingot/lora.hpp"
#include "ingot/metadata_keys.hpp"

namespace ingot {
namespace {

Failure mismatch(std::string_view subject, std::string detail) {
  return fail(Errc::adapter_mismatch, std::string(subject), std::move(detail));
}

std::string shape_text(const TensorInfo& tensor) {
  std::string text;
  for (const std::uint64_t size : tensor.shape) {
    text += (text.empty() ? "" : " x ") + std::to_string(size);
  }
  return text;
}

bool fits(const LoraChange& change, const TensorInfo& tensor) {
  if (change.is_whole()) return std::ranges::equal(change.a->shape, tensor.shape);
  const std::span<const std::uint64_t> halves = change.a->shape;
  return tensor.shape.size() == halves.size() && tensor.shape[0] == change.row_elements() &&
         tensor.shape[1] == change.row_count() &&
         std::ranges::equal(halves.subspan(2), tensor.shape.subspan(2));
}

Result<void> check_type(std::string_view name, TensorType type, std::uint64_t row_elements) {
  const TensorTypeInfo* const info = find_type(type);
  if (info == nullptr || info->is_integer()) {
    return fail(Errc::unsupported_type, std::string(name), "its numbers are integers");
  }
  if (info->weights == ImportanceWeights::required) {
    return fail(Errc::weights_required, std::string(name),
                std::string(info->name) + "; choose another type for the merged tensors");
  }
  if (row_elements % info->block_elements != 0) {
    return fail(Errc::type_does_not_fit, std::string(name), std::string(info->name));
  }
  return {};
}

class Planner {
 public:
  Planner(const Model& model, const LoraMergeOptions& options) : model_(model), options_(options) {
    for (const TensorInfo& tensor : model.tensors()) {
      places_.emplace(tensor.name, plan_.tensors.size());
      plan_.tensors.push_back({.source = &tensor, .type = tensor.type});
    }
  }

  Result<LoraMergePlan> plan(std::span<const ScaledLora> adapters) {
    if (adapters.empty()) return fail(Errc::invalid_argument, "adapters", "there are none");
    for (const ScaledLora& adapter : adapters) INGOT_TRY_VOID(add(adapter));
    for (MergedTensor& tensor : plan_.tensors) {
      if (tensor.terms.empty()) continue;
      ++plan_.changed_count;
      // Engines multiply by a norm element by element and expect its type, so it keeps it.
      if (tensor.source->shape.size() > 1) tensor.type = options_.type.value_or(tensor.type);
      const TensorInfo& source = *tensor.source;
      INGOT_TRY_VOID(check_type(source.name, source.type, source.row_elements()));
      INGOT_TRY_VOID(check_type(source.name, tensor.type, source.row_elements()));
    }
    if (options_.type && is_most(*options_.type)) plan_.file_type = file_type_of(*options_.type);
    return std::move(plan_);
  }

 private:
  Result<void> add(const ScaledLora& scaled) {
    const LoraAdapter& adapter = *scaled.adapter;
    if (!std::isfinite(scaled.scale)) {
      return fail(Errc::invalid_argument, "scale", "it must be a finite number");
    }
    const auto architecture = model_.get_or<std::string_view>(keys::general_architecture, "");
    if (architecture != adapter.architecture) {
      return mismatch(keys::general_architecture,
                      "the adapter is for `" + std::string(adapter.architecture) +
                          "`, the model is `" + std::string(architecture) + "`");
    }
    if (adapter.is_invoked) {
      return mismatch("adapter.alora.invocation_tokens",
                      "the adapter counts only behind these tokens, a merged one everywhere");
    }
    for (const LoraChange& change : adapter.changes) {
      const auto place = places_.find(change.name);
      if (place == places_.end()) return mismatch(change.name, "the model has no such tensor");
      MergedTensor& tensor = plan_.tensors[place->second];
      if (!fits(change, *tensor.source)) {
        return mismatch(change.name, "the model has it as " + shape_text(*tensor.source) +
                                         ", the adapter is for " +
                                         std::to_string(change.row_elements()) + " x " +
                                         std::to_string(change.row_count()));
      }
      const auto factor = static_cast<float>(adapter.factor(change, scaled.scale));
      if (!std::isfinite(factor)) return mismatch(change.name, "its scale is out of range");
      tensor.terms.push_back({.adapter = adapter.model, .change = &change, .factor = factor});
    }
    return {};
  }

  /// Whether more weights of the result have this type than any other.
  [[nodiscard]] bool is_most(TensorType type) const {
    std::map<TensorType, std::uint64_t> elements;
    for (const MergedTensor& tensor : plan_.tensors) {
      if (tensor.source->shape.size() > 1) elements[tensor.type] += tensor.source->element_count;
    }
    return std::ranges::all_of(elements, [&](const auto& entry) {
      return entry.first == type || entry.second < elements[type];
    });
  }

  const Model& model_;
  const LoraMergeOptions& options_;
  LoraMergePlan plan_;
  std::map<std::string_view, std::size_t> places_;
};

}  // namespace

Result<LoraMergePlan> plan_lora_merge(const Model& model, std::span<const ScaledLora> adapters,
                                      const LoraMergeOptions& options) {
  if (model.get_or<std::string_view>(keys::general_type, "model") != "model") {
    return mismatch(keys::general_type, "only a model can take an adapter in");
  }
  return Planner(model, options).plan(adapters);
}

}  // namespace ingot
