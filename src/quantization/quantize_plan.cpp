// SPDX-License-Identifier: MIT
// plan_quantization: types, sizes, and everything that can be refused before the work.
#include <algorithm>
#include <string>

#include "ingot/error_feedback.hpp"
#include "ingot/metadata_keys.hpp"
#include "ingot/parallel.hpp"
#include "ingot/quantize_model.hpp"
#include "quantization/quantize_work.hpp"
#include "quantization/type_budget.hpp"

namespace ingot {
namespace {

class QuantizePlanner {
 public:
  QuantizePlanner(const Model& model, const QuantizeModelOptions& options)
      : model_(model), options_(options), types_(options.types) {
    types_.has_importance = options.importance != nullptr;
  }

  Result<QuantizePlan> plan(const QuantizeProgress& progress) {
    const bool has_target = options_.target_bits_per_weight || options_.target_file_bytes;
    // With a target the recipe only decides which tensors may be quantized, and patterns count.
    recipe_ = has_target ? find_recipe("Q6_K") : options_.recipe;
    if (recipe_ == nullptr) return fail(Errc::invalid_argument, "recipe", "there is none");
    if (has_target) types_.is_pure = true;
    if (options_.importance != nullptr) {
      INGOT_TRY_VOID(check_matrix());
      INGOT_TRY_VOID(options_.importance->check_values());
    }
    INGOT_TRY_VOID(check_source());
    INGOT_TRY_VOID(check_architecture());
    INGOT_TRY_VOID(choose());
    plan_.file_type = recipe_->file_type;
    // If no row holds blocks, everything is stored as floats, and the recipe's name would be wrong.
    const bool has_quantized =
        std::any_of(plan_.tensors.begin(), plan_.tensors.end(),
                    [](const PlannedTensor& planned) { return is_quantized(planned.choice.type); });
    if (plan_.file_type && !has_quantized && is_quantized(recipe_->base)) {
      plan_.file_type = quantization::guess_file_type(plan_);
    }
    if (options_.effort == Effort::automatic) INGOT_TRY_VOID(find_grids(has_target));
    if (has_target) {
      INGOT_TRY_VOID(quantization::fit_to_target(model_, options_, plan_, progress));
    }
    plan_.size_bytes = 0;
    for (PlannedTensor& planned : plan_.tensors) {
      INGOT_TRY_VOID(check(planned));
      planned.explanation = explain(planned.choice, *planned.source, types_);
      if (planned.grid) planned.explanation += "; on a " + grid_text(*planned.grid);
      plan_.size_bytes += planned.size_bytes;
    }
    return std::move(plan_);
  }

 private:
  /// All shards must exist; a tensor that only a lenient reader opens may have no elements.
  Result<void> check_source() const {
    if (model_.files().size() < model_.shard_count()) {
      return fail(Errc::shard_mismatch, {},
                  std::to_string(model_.shard_count() - model_.files().size()) + " of " +
                      std::to_string(model_.shard_count()) + " shards are missing");
    }
    for (const TensorInfo& tensor : model_.tensors()) {
      if (find_type(tensor.type) != nullptr) continue;
      return fail(Errc::unsupported_type, std::string(tensor.name),
                  std::to_string(static_cast<std::uint32_t>(tensor.type)));
    }
    return {};
  }

  /// Without an architecture nothing loads the result, and the names of tensors mean nothing to the
  /// rules of a mixture: a folder of safetensors, say, was converted by its bytes alone.
  Result<void> check_architecture() const {
    INGOT_TRY(const ModelWriter keys, quantization::make_keys(model_, plan_, options_));
    if (keys.find(keys::general_architecture)) return {};
    return fail(Errc::no_architecture, {},
                "start from the folder of the model with its config.json, or from a GGUF file "
                "that was made of it: `ingot convert FOLDER OUT`");
  }

  Result<void> choose() {
    const std::span<const TensorInfo> tensors = model_.tensors();
    INGOT_TRY(const std::vector<TypeChoice> choices,
              choose_types(tensors, traits_of(model_), *recipe_, types_));
    std::vector<std::size_t> order = quantize_order(tensors);
    if (options_.keeps_shards) {
      std::ranges::stable_sort(order, {}, [&](std::size_t i) { return tensors[i].shard; });
    }
    for (const std::size_t i : order) {
      const TensorTypeInfo& type = *find_type(choices[i].type);
      PlannedTensor planned;
      planned.source = &tensors[i];
      planned.choice = choices[i];
      planned.size_bytes = type.bytes_of(tensors[i].element_count);
      plan_.element_count += tensors[i].element_count;
      plan_.source_bytes += tensors[i].size_bytes;
      plan_.size_bytes += planned.size_bytes;
      plan_.tensors.push_back(planned);
    }
    return {};
  }

  /// Every entry that names a tensor of the model must have its size; some must.
  Result<void> check_matrix() const {
    std::uint64_t matches = 0;
    for (const ImatrixEntry& entry : options_.importance->entries()) {
      const TensorInfo* tensor = model_.find_tensor(entry.name);
      if (tensor == nullptr) continue;
      ++matches;
      const std::uint64_t wanted = tensor->row_elements() * quantization::matrix_count(*tensor);
      if (entry.value_count == wanted || role_of(entry.name) == TensorRole::token_embedding) {
        continue;
      }
      return fail(Errc::imatrix_mismatch, entry.name,
                  "it has " + std::to_string(entry.value_count) + " values, the tensor " +
                      std::to_string(wanted) + " columns");
    }
    if (matches > 0) return {};
    const std::span<const ImatrixEntry> entries = options_.importance->entries();
    return fail(Errc::imatrix_mismatch, {},
                "none of its " + std::to_string(entries.size()) + " names is in the model" +
                    (entries.empty() ? "" : ", not even \"" + entries[0].name + "\""));
  }

  /// Of the tensors that are quantized, or may be.
  Result<void> find_grids(bool has_target) {
    return spread(plan_.tensors.size(), 1, options_.thread_count,
                  [&](std::uint64_t i, std::uint64_t) -> Result<void> {
                    PlannedTensor& planned = plan_.tensors[static_cast<std::size_t>(i)];
                    const bool may_change = has_target || !planned.is_copied();
                    const bool is_refused = is_quantized(planned.source->type) &&
                                            !planned.is_copied() && !options_.allows_requantize;
                    if (!may_change || is_refused || !is_quantized(planned.choice.type)) return {};
                    auto grid = find_grid(model_, *planned.source);
                    // The plan of a header needs no weights.
                    if (!grid && grid.error().code == Errc::not_mapped) return {};
                    INGOT_TRY(planned.grid, std::move(grid));
                    return {};
                  });
  }

  Result<void> check(PlannedTensor& planned) const {
    const TensorInfo& tensor = *planned.source;
    if (planned.is_copied()) return {};
    const TensorTypeInfo& from = *find_type(tensor.type);
    const TensorTypeInfo& to = *find_type(planned.choice.type);
    if (from.is_quantized() && to.is_quantized() && !options_.allows_requantize) {
      return fail(Errc::requantize_refused, std::string(tensor.name),
                  "it is " + std::string(from.name));
    }
    const ImatrixEntry* entry = quantization::find_importance(options_.importance, tensor);
    const bool has_data = entry != nullptr;
    if (to.is_quantized()) {
      planned.effort = quantization::effort_of(options_, to.type, planned.grid);
    }
    const bool is_searched = planned.effort == Effort::best;
    planned.has_importance = has_data && (is_searched || to.weights != ImportanceWeights::unused);
    planned.has_feedback = options_.effort == Effort::best && options_.uses_feedback &&
                           has_feedback(to.type) && quantization::has_moments(entry, tensor);
    const Recipe& recipe = options_.recipe != nullptr ? *options_.recipe : *recipe_;
    if (has_data || !demands_importance(to.type, planned.choice.role, recipe)) return {};
    return fail(Errc::weights_required, std::string(tensor.name),
                options_.importance == nullptr
                    ? std::string(to.name)
                    : std::string(to.name) + ", and the matrix has nothing on this tensor");
  }

  const Model& model_;
  const QuantizeModelOptions& options_;
  RecipeOptions types_;
  const Recipe* recipe_ = nullptr;
  QuantizePlan plan_;
};

}  // namespace

Result<QuantizePlan> plan_quantization(const Model& model, const QuantizeModelOptions& options,
                                       const QuantizeProgress& progress) {
  return QuantizePlanner(model, options).plan(progress);
}

}  // namespace ingot
